
#include "unit.h"
#include "ngx_queues_base_siphash.h"


typedef struct {
    size_t       len;
    uint64_t     hash;
} unit_siphash_t;


/* of the authors: the key is 00 01 .. 0f, the text 00 01 .. of its length */

static unit_siphash_t  unit_siphashes[] = {
    { 0, 0x726fdb47dd0e0e31ULL },
    { 1, 0x74f839c593dc67fdULL },
    { 7, 0xab0200f58b01d137ULL },
    { 8, 0x93f5f5799a932462ULL },
    { 9, 0x9e0082df0ba9e4b0ULL },
    { 15, 0xa129ca6149be45e5ULL },
    { 16, 0x3f2acc7f57c29bdbULL },
    { 63, 0x958a324ceb064572ULL }
};


int
main(void)
{
    u_char      key[NGX_QUEUES_BASE_SIPHASH_KEY], other[sizeof(key)];
    u_char      bytes[64];
    ngx_str_t   text, copy;
    ngx_uint_t  i;

    for (i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (u_char) i;
    }

    ngx_memcpy(key, bytes, sizeof(key));
    ngx_memcpy(other, key, sizeof(key));
    other[15] ^= 1;

    for (i = 0; i < UNIT_ROWS(unit_siphashes); i++) {
        text.data = bytes;
        text.len = unit_siphashes[i].len;
        copy = unit_copy(&text);

        unit_ok(ngx_queues_base_siphash(key, copy.data, copy.len)
                == unit_siphashes[i].hash, "the reference's hash", &copy);
        unit_ok(ngx_queues_base_siphash(other, copy.data, copy.len)
                != unit_siphashes[i].hash, "not so with another key", &copy);

        free(copy.data);
    }

    return unit_done();
}
