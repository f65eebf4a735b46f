
#include "ngx_queues_base_endpoint.h"
#include "ngx_queues_base_text.h"


#define NGX_QUEUES_BASE_ADDRESS_TEXT    45    /* of the longest address */
#define NGX_QUEUES_BASE_ADDRESS_MAPPED  96    /* bits before IPv4 */


/* what an address in a block is */

typedef enum {
    NGX_QUEUES_BASE_ADDRESS_REFUSED = 0,
    NGX_QUEUES_BASE_ADDRESS_PUBLIC,
    NGX_QUEUES_BASE_ADDRESS_EMBEDDED,       /* as the IPv4 address at "at" */
    NGX_QUEUES_BASE_ADDRESS_TEREDO
} ngx_queues_base_address_kind_e;


typedef struct {
    u_char                          prefix[6];
    ngx_uint_t                      bits;
    ngx_queues_base_address_kind_e  kind;
    ngx_uint_t                      at;
} ngx_queues_base_address_block_t;


static ngx_uint_t ngx_queues_base_address_public4(u_char *address);
static ngx_uint_t ngx_queues_base_address_public6(u_char *address);
static ngx_uint_t ngx_queues_base_address_teredo(u_char *address);
static ngx_uint_t ngx_queues_base_address_in(u_char *address, u_char *prefix,
    ngx_uint_t bits);
static ngx_int_t ngx_queues_base_address_map(u_char *address, size_t len,
    u_char *mapped);


static u_char  ngx_queues_base_address_mapped[12] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff
};


static ngx_queues_base_network_t  ngx_queues_base_address_loopbacks[] = {
    { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 0 },
      NGX_QUEUES_BASE_ADDRESS_MAPPED + 8 },
    { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 }, 128 }
};


/*
 * IANA's IPv4 Special-Purpose Address Registry, what in it is not globally
 * reachable, and multicast.  192.0.0.0/24 as a whole: the two addresses in it
 * that are reachable are anycast, for the nearest NAT and TURN server.
 */

static ngx_queues_base_address_block_t  ngx_queues_base_address_blocks4[] = {
    { { 0 }, 8, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 10 }, 8, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 100, 64 }, 10, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 127 }, 8, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 169, 254 }, 16, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 172, 16 }, 12, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 192, 0, 0 }, 24, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 192, 0, 2 }, 24, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 192, 88, 99 }, 24, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 192, 168 }, 16, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 198, 18 }, 15, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 198, 51, 100 }, 24, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 203, 0, 113 }, 24, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 224 }, 4, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 240 }, 4, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 }
};


/*
 * The first that fits decides; what no block has is not global unicast: local
 * addresses, multicast, 64:ff9b:1::/48, the IPv4-compatible ones and so on.
 * 2001::/23 has relays and identifiers, but no hosts, beside Teredo.
 */

static ngx_queues_base_address_block_t  ngx_queues_base_address_blocks6[] = {
    { { 0x00, 0x64, 0xff, 0x9b, 0, 0 }, 96,
      NGX_QUEUES_BASE_ADDRESS_EMBEDDED, 12 },
    { { 0x20, 0x02 }, 16, NGX_QUEUES_BASE_ADDRESS_EMBEDDED, 2 },
    { { 0x20, 0x01, 0x00, 0x00 }, 32, NGX_QUEUES_BASE_ADDRESS_TEREDO, 0 },
    { { 0x20, 0x01, 0x00 }, 23, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 0x3f, 0xff, 0x00 }, 20, NGX_QUEUES_BASE_ADDRESS_REFUSED, 0 },
    { { 0x20 }, 3, NGX_QUEUES_BASE_ADDRESS_PUBLIC, 0 }
};


ngx_uint_t
ngx_queues_base_address_public(u_char *address, size_t len)
{
    u_char  mapped[NGX_QUEUES_BASE_ADDRESS_LEN];

    if (ngx_queues_base_address_map(address, len, mapped) != NGX_OK) {
        return 0;
    }

    if (ngx_memcmp(mapped, ngx_queues_base_address_mapped,
                   sizeof(ngx_queues_base_address_mapped))
        == 0)
    {
        return ngx_queues_base_address_public4(mapped + 12);
    }

    return ngx_queues_base_address_public6(mapped);
}


static ngx_uint_t
ngx_queues_base_address_public4(u_char *address)
{
    ngx_uint_t                        i, n;
    ngx_queues_base_address_block_t  *block;

    n = sizeof(ngx_queues_base_address_blocks4) / sizeof(*block);

    for (i = 0; i < n; i++) {
        block = &ngx_queues_base_address_blocks4[i];

        if (ngx_queues_base_address_in(address, block->prefix, block->bits)) {
            return 0;
        }
    }

    return 1;
}


static ngx_uint_t
ngx_queues_base_address_public6(u_char *address)
{
    u_char                            prefix[NGX_QUEUES_BASE_ADDRESS_LEN];
    ngx_uint_t                        i, n;
    ngx_queues_base_address_block_t  *block;

    n = sizeof(ngx_queues_base_address_blocks6) / sizeof(*block);

    for (i = 0; i < n; i++) {
        block = &ngx_queues_base_address_blocks6[i];

        ngx_memzero(prefix, sizeof(prefix));
        ngx_memcpy(prefix, block->prefix, sizeof(block->prefix));

        if (!ngx_queues_base_address_in(address, prefix, block->bits)) {
            continue;
        }

        switch (block->kind) {

        case NGX_QUEUES_BASE_ADDRESS_PUBLIC:
            return 1;

        case NGX_QUEUES_BASE_ADDRESS_EMBEDDED:
            return ngx_queues_base_address_public4(address + block->at);

        case NGX_QUEUES_BASE_ADDRESS_TEREDO:
            return ngx_queues_base_address_teredo(address);

        default: /* NGX_QUEUES_BASE_ADDRESS_REFUSED */
            return 0;
        }
    }

    return 0;
}


/* RFC 4380, 4: the server's address, and the client's with its bits inverted */

static ngx_uint_t
ngx_queues_base_address_teredo(u_char *address)
{
    u_char      client[4];
    ngx_uint_t  i;

    for (i = 0; i < 4; i++) {
        client[i] = address[12 + i] ^ 0xff;
    }

    return ngx_queues_base_address_public4(address + 4)
           && ngx_queues_base_address_public4(client);
}


ngx_uint_t
ngx_queues_base_address_permitted(u_char *address, size_t len,
    ngx_queues_base_rules_t *rules)
{
    u_char                      mapped[NGX_QUEUES_BASE_ADDRESS_LEN];
    ngx_uint_t                  i;
    ngx_queues_base_network_t  *network;

    if (ngx_queues_base_address_map(address, len, mapped) != NGX_OK) {
        return 0;
    }

    if (ngx_queues_base_address_public(address, len)) {
        return 1;
    }

    for (i = 0; i < rules->nnetworks; i++) {
        network = &rules->networks[i];

        if (ngx_queues_base_address_in(mapped, network->address,
                                       network->bits))
        {
            return 1;
        }
    }

    return rules->localhost && ngx_queues_base_address_loopback(address, len);
}


ngx_uint_t
ngx_queues_base_address_loopback(u_char *address, size_t len)
{
    u_char                      mapped[NGX_QUEUES_BASE_ADDRESS_LEN];
    ngx_uint_t                  i;
    ngx_queues_base_network_t  *network;

    if (ngx_queues_base_address_map(address, len, mapped) != NGX_OK) {
        return 0;
    }

    for (i = 0; i < 2; i++) {
        network = &ngx_queues_base_address_loopbacks[i];

        if (ngx_queues_base_address_in(mapped, network->address,
                                       network->bits))
        {
            return 1;
        }
    }

    return 0;
}


ngx_int_t
ngx_queues_base_network_parse(ngx_str_t *text,
    ngx_queues_base_network_t *network)
{
    u_char      copy[NGX_QUEUES_BASE_ADDRESS_TEXT + 1];
    u_char      address[NGX_QUEUES_BASE_ADDRESS_LEN], *slash;
    size_t      len, size;
    uint64_t    bits;
    ngx_str_t   digits;
    ngx_uint_t  i;

    slash = text->len ? memchr(text->data, '/', text->len) : NULL;
    len = slash ? (size_t) (slash - text->data) : text->len;

    if (len == 0
        || len > NGX_QUEUES_BASE_ADDRESS_TEXT
        || memchr(text->data, '\0', len))
    {
        return NGX_ERROR;
    }

    ngx_memcpy(copy, text->data, len);
    copy[len] = '\0';

    if (inet_pton(AF_INET, (char *) copy, address) == 1) {
        size = 4;

    } else if (inet_pton(AF_INET6, (char *) copy, address) == 1) {
        size = NGX_QUEUES_BASE_ADDRESS_LEN;

    } else {
        return NGX_ERROR;
    }

    bits = size * 8;

    if (slash) {
        digits.data = slash + 1;
        digits.len = text->len - len - 1;

        if (digits.len > 3
            || (digits.len > 1 && digits.data[0] == '0')
            || ngx_queues_base_decimal_parse(&digits, &bits) != NGX_OK
            || bits > size * 8)
        {
            return NGX_ERROR;
        }
    }

    for (i = bits; i < size * 8; i++) {
        if (address[i / 8] & (0x80 >> i % 8)) {
            return NGX_ERROR;
        }
    }

    if (size == 4) {
        bits += NGX_QUEUES_BASE_ADDRESS_MAPPED;
    }

    network->bits = (ngx_uint_t) bits;

    return ngx_queues_base_address_map(address, size, network->address);
}


static ngx_uint_t
ngx_queues_base_address_in(u_char *address, u_char *prefix, ngx_uint_t bits)
{
    ngx_uint_t  n, rest;

    n = bits / 8;
    rest = bits % 8;

    if (ngx_memcmp(address, prefix, n) != 0) {
        return 0;
    }

    return rest == 0 || ((address[n] ^ prefix[n]) >> (8 - rest)) == 0;
}


static ngx_int_t
ngx_queues_base_address_map(u_char *address, size_t len, u_char *mapped)
{
    switch (len) {

    case 4:
        ngx_memcpy(mapped, ngx_queues_base_address_mapped,
                   sizeof(ngx_queues_base_address_mapped));
        ngx_memcpy(mapped + 12, address, 4);
        return NGX_OK;

    case NGX_QUEUES_BASE_ADDRESS_LEN:
        ngx_memcpy(mapped, address, NGX_QUEUES_BASE_ADDRESS_LEN);
        return NGX_OK;

    default:
        return NGX_ERROR;
    }
}
