
#include "ngx_queues_base_siphash.h"


#define ngx_queues_base_rotl(x, n)  (((x) << (n)) | ((x) >> (64 - (n))))


static ngx_inline uint64_t ngx_queues_base_siphash_word(const u_char *p,
    size_t len);
static ngx_inline void ngx_queues_base_siphash_round(uint64_t *v);


uint64_t
ngx_queues_base_siphash(const u_char *key, const u_char *data, size_t len)
{
    size_t         left;
    uint64_t       v[4], k0, k1, word;

    k0 = ngx_queues_base_siphash_word(key, 8);
    k1 = ngx_queues_base_siphash_word(key + 8, 8);

    v[0] = k0 ^ 0x736f6d6570736575ULL;
    v[1] = k1 ^ 0x646f72616e646f6dULL;
    v[2] = k0 ^ 0x6c7967656e657261ULL;
    v[3] = k1 ^ 0x7465646279746573ULL;

    for (left = len; left >= 8; left -= 8) {
        word = ngx_queues_base_siphash_word(data, 8);
        data += 8;

        v[3] ^= word;
        ngx_queues_base_siphash_round(v);
        ngx_queues_base_siphash_round(v);
        v[0] ^= word;
    }

    word = ngx_queues_base_siphash_word(data, left) | (uint64_t) len << 56;

    v[3] ^= word;
    ngx_queues_base_siphash_round(v);
    ngx_queues_base_siphash_round(v);
    v[0] ^= word;

    v[2] ^= 0xff;
    ngx_queues_base_siphash_round(v);
    ngx_queues_base_siphash_round(v);
    ngx_queues_base_siphash_round(v);
    ngx_queues_base_siphash_round(v);

    return v[0] ^ v[1] ^ v[2] ^ v[3];
}


/* little-endian, of up to 8 bytes */

static ngx_inline uint64_t
ngx_queues_base_siphash_word(const u_char *p, size_t len)
{
    uint64_t  word;

#if (NGX_HAVE_LITTLE_ENDIAN)

    if (len == 8) {
        ngx_memcpy(&word, p, 8);
        return word;
    }

#endif

    word = 0;

    while (len) {
        word = word << 8 | p[--len];
    }

    return word;
}


static ngx_inline void
ngx_queues_base_siphash_round(uint64_t *v)
{
    v[0] += v[1];
    v[1] = ngx_queues_base_rotl(v[1], 13);
    v[1] ^= v[0];
    v[0] = ngx_queues_base_rotl(v[0], 32);

    v[2] += v[3];
    v[3] = ngx_queues_base_rotl(v[3], 16);
    v[3] ^= v[2];

    v[0] += v[3];
    v[3] = ngx_queues_base_rotl(v[3], 21);
    v[3] ^= v[0];

    v[2] += v[1];
    v[1] = ngx_queues_base_rotl(v[1], 17);
    v[1] ^= v[2];
    v[2] = ngx_queues_base_rotl(v[2], 32);
}
