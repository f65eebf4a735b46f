
#include "unit.h"
#include "ngx_queues_base_endpoint.h"


/* fewer would leave blocks out */
#define UNIT_ADDRESSES  150


typedef struct {
    const char  *address;
    ngx_uint_t   public;
} unit_address_t;


typedef struct {
    ngx_str_t    text;
    const char  *address;     /* NULL: refused */
    ngx_uint_t   bits;
} unit_network_t;


/* the first and the last of each block, and their neighbours */

static unit_address_t  unit_addresses[] = {
    { "0.0.0.0", 0 },
    { "0.0.0.1", 0 },
    { "0.255.255.255", 0 },
    { "1.0.0.0", 1 },
    { "1.1.1.1", 1 },
    { "8.8.8.8", 1 },
    { "9.255.255.255", 1 },
    { "10.0.0.0", 0 },
    { "10.0.0.1", 0 },
    { "10.255.255.255", 0 },
    { "11.0.0.0", 1 },
    { "100.63.255.255", 1 },
    { "100.64.0.0", 0 },
    { "100.64.0.1", 0 },
    { "100.100.100.200", 0 },
    { "100.127.255.255", 0 },
    { "100.128.0.0", 1 },
    { "126.255.255.255", 1 },
    { "127.0.0.0", 0 },
    { "127.0.0.1", 0 },
    { "127.255.255.255", 0 },
    { "128.0.0.0", 1 },
    { "169.253.255.255", 1 },
    { "169.254.0.0", 0 },
    { "169.254.169.254", 0 },
    { "169.254.255.255", 0 },
    { "169.255.0.0", 1 },
    { "172.15.255.255", 1 },
    { "172.16.0.0", 0 },
    { "172.17.0.1", 0 },
    { "172.31.255.255", 0 },
    { "172.32.0.0", 1 },
    { "191.255.255.255", 1 },
    { "192.0.0.0", 0 },
    { "192.0.0.1", 0 },
    { "192.0.0.8", 0 },
    { "192.0.0.9", 0 },
    { "192.0.0.10", 0 },
    { "192.0.0.170", 0 },
    { "192.0.0.255", 0 },
    { "192.0.1.0", 1 },
    { "192.0.2.0", 0 },
    { "192.0.2.255", 0 },
    { "192.0.3.0", 1 },
    { "192.31.196.1", 1 },
    { "192.52.193.1", 1 },
    { "192.88.98.255", 1 },
    { "192.88.99.0", 0 },
    { "192.88.99.1", 0 },
    { "192.88.99.255", 0 },
    { "192.88.100.0", 1 },
    { "192.167.255.255", 1 },
    { "192.168.0.0", 0 },
    { "192.168.1.1", 0 },
    { "192.168.255.255", 0 },
    { "192.169.0.0", 1 },
    { "192.175.48.1", 1 },
    { "198.17.255.255", 1 },
    { "198.18.0.0", 0 },
    { "198.18.0.1", 0 },
    { "198.19.255.255", 0 },
    { "198.20.0.0", 1 },
    { "198.51.99.255", 1 },
    { "198.51.100.0", 0 },
    { "198.51.100.255", 0 },
    { "198.51.101.0", 1 },
    { "203.0.112.255", 1 },
    { "203.0.113.0", 0 },
    { "203.0.113.255", 0 },
    { "203.0.114.0", 1 },
    { "223.255.255.255", 1 },
    { "224.0.0.0", 0 },
    { "224.0.0.1", 0 },
    { "239.255.255.255", 0 },
    { "240.0.0.0", 0 },
    { "254.255.255.255", 0 },
    { "255.255.255.254", 0 },
    { "255.255.255.255", 0 },

    { "::", 0 },
    { "::1", 0 },
    { "::2", 0 },
    { "::ffff", 0 },
    { "::127.0.0.1", 0 },
    { "::10.0.0.1", 0 },
    { "::8.8.8.8", 0 },
    { "::ffff:0.0.0.0", 0 },
    { "::ffff:10.0.0.1", 0 },
    { "::ffff:127.0.0.1", 0 },
    { "::ffff:100.64.0.1", 0 },
    { "::ffff:169.254.169.254", 0 },
    { "::ffff:172.16.0.1", 0 },
    { "::ffff:192.168.0.1", 0 },
    { "::ffff:224.0.0.1", 0 },
    { "::ffff:255.255.255.255", 0 },
    { "::ffff:8.8.8.8", 1 },
    { "::fffe:8.8.8.8", 0 },
    { "::1:ffff:8.8.8.8", 0 },
    { "::ffff:0:8.8.8.8", 0 },                    /* SIIT */
    { "64:ff9a::8.8.8.8", 0 },
    { "64:ff9b::8.8.8.8", 1 },
    { "64:ff9b::1.1.1.1", 1 },
    { "64:ff9b::10.0.0.1", 0 },
    { "64:ff9b::a00:1", 0 },
    { "64:ff9b::127.0.0.1", 0 },
    { "64:ff9b::169.254.169.254", 0 },
    { "64:ff9b::0.0.0.0", 0 },
    { "64:ff9b::255.255.255.255", 0 },
    { "64:ff9b::1:0:0", 0 },
    { "64:ff9b:0:0:0:1:808:808", 0 },
    { "64:ff9b:1::", 0 },
    { "64:ff9b:1::8.8.8.8", 0 },
    { "64:ff9b:1:ffff::10.0.0.1", 0 },
    { "64:ff9b:2::8.8.8.8", 0 },
    { "100::", 0 },
    { "100::1", 0 },
    { "100:0:0:1::1", 0 },
    { "100:0:0:2::1", 0 },
    { "200::1", 0 },
    { "400::1", 0 },
    { "1000::1", 0 },
    { "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 0 },
    { "2000::", 1 },
    { "2000:ffff::1", 1 },

    /* Teredo: a public server and client, either or both of them private */

    { "2001:0:808:808:0:0:fefe:fefe", 1 },
    { "2001:0:4136:e378:8000:63bf:3fff:fdd2", 0 },  /* RFC 4380: 192.0.2.45 */
    { "2001:0:808:808:8000:63bf:f5ff:fffe", 0 },    /* 10.0.0.1 */
    { "2001:0:808:808:8000:63bf:80ff:fffe", 0 },    /* 127.0.0.1 */
    { "2001:0:a00:1:8000:63bf:fefe:fefe", 0 },
    { "2001:0:7f00:1:0:0:fefe:fefe", 0 },
    { "2001:0:808:808:0:0:0:0", 0 },
    { "2001:0:808:808:0:0:ffff:ffff", 0 },
    { "2001::", 0 },
    { "2001::1", 0 },
    { "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", 0 },

    { "2001:1::", 0 },
    { "2001:1::1", 0 },
    { "2001:1::2", 0 },
    { "2001:1::3", 0 },
    { "2001:2::", 0 },
    { "2001:2:0:ffff::1", 0 },
    { "2001:3::1", 0 },
    { "2001:4:112::1", 0 },
    { "2001:10::1", 0 },
    { "2001:1f:ffff::1", 0 },
    { "2001:20::1", 0 },
    { "2001:2f::1", 0 },
    { "2001:30::1", 0 },
    { "2001:100::1", 0 },
    { "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", 0 },
    { "2001:200::", 1 },
    { "2001:200::1", 1 },
    { "2001:4860:4860::8888", 1 },
    { "2001:db7:ffff:ffff::1", 1 },
    { "2001:db8::", 0 },
    { "2001:db8::1", 0 },
    { "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", 0 },
    { "2001:db9::", 1 },
    { "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 1 },

    { "2002::", 0 },
    { "2002:7f00:1::", 0 },
    { "2002:7f00:1::1", 0 },
    { "2002:a00:1::1", 0 },
    { "2002:a9fe:a9fe::1", 0 },
    { "2002:c0a8:101::1", 0 },
    { "2002:ac10::1", 0 },
    { "2002:6440::1", 0 },
    { "2002:e000:1::1", 0 },
    { "2002:ffff:ffff::1", 0 },
    { "2002:808:808::1", 1 },
    { "2003::1", 1 },

    { "2600::", 1 },
    { "2606:4700:4700::1111", 1 },
    { "2620:4f:8000::1", 1 },
    { "2a00:1450:4001::200e", 1 },
    { "3ffe:ffff::1", 1 },
    { "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 1 },
    { "3fff::", 0 },
    { "3fff:fff::1", 0 },
    { "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", 0 },
    { "3fff:1000::", 1 },
    { "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 1 },
    { "4000::", 0 },
    { "5f00::1", 0 },
    { "8000::1", 0 },
    { "a00::1", 0 },
    { "c000::1", 0 },
    { "fbff:ffff::1", 0 },
    { "fc00::", 0 },
    { "fc00::1", 0 },
    { "fd00::1", 0 },
    { "fd00:ec2::254", 0 },
    { "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 0 },
    { "fe00::1", 0 },
    { "fe80::", 0 },
    { "fe80::1", 0 },
    { "fe80::a9fe:a9fe", 0 },
    { "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 0 },
    { "fec0::1", 0 },
    { "feff:ffff::1", 0 },
    { "ff00::", 0 },
    { "ff02::1", 0 },
    { "ff05::2", 0 },
    { "ff0e::1", 0 },
    { "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 0 }
};


static unit_network_t  unit_networks[] = {
    { ngx_string("10.0.0.0/8"), "::ffff:10.0.0.0", 104 },
    { ngx_string("10.0.0.1"), "::ffff:10.0.0.1", 128 },
    { ngx_string("10.0.0.1/32"), "::ffff:10.0.0.1", 128 },
    { ngx_string("0.0.0.0/0"), "::ffff:0.0.0.0", 96 },
    { ngx_string("128.0.0.0/1"), "::ffff:128.0.0.0", 97 },
    { ngx_string("172.16.0.0/12"), "::ffff:172.16.0.0", 108 },
    { ngx_string("255.255.255.255"), "::ffff:255.255.255.255", 128 },
    { ngx_string("::/0"), "::", 0 },
    { ngx_string("::"), "::", 128 },
    { ngx_string("fd00::/8"), "fd00::", 8 },
    { ngx_string("fe80::/10"), "fe80::", 10 },
    { ngx_string("FD00::1"), "fd00::1", 128 },
    { ngx_string("fd00::1/128"), "fd00::1", 128 },
    { ngx_string("fd00::2/127"), "fd00::2", 127 },
    { ngx_string("::ffff:10.0.0.0/104"), "::ffff:10.0.0.0", 104 },
    { ngx_string("0000:0000:0000:0000:0000:ffff:255.255.255.255"),
      "::ffff:255.255.255.255", 128 },

    { ngx_string(""), NULL, 0 },
    { ngx_string("/"), NULL, 0 },
    { ngx_string("/8"), NULL, 0 },
    { ngx_string("10.0.0.0/"), NULL, 0 },
    { ngx_string("10.0.0.0/33"), NULL, 0 },
    { ngx_string("10.0.0.0/08"), NULL, 0 },
    { ngx_string("10.0.0.0/+8"), NULL, 0 },
    { ngx_string("10.0.0.0/-1"), NULL, 0 },
    { ngx_string("10.0.0.0/8 "), NULL, 0 },
    { ngx_string("10.0.0.0/8/8"), NULL, 0 },
    { ngx_string("10.0.0.0/4294967304"), NULL, 0 },
    { ngx_string("10.0.0.0/255.0.0.0"), NULL, 0 },
    { ngx_string("10.0.0.1/8"), NULL, 0 },
    { ngx_string("10.0.0.1/31"), NULL, 0 },
    { ngx_string("10.0.0.0\0/8"), NULL, 0 },
    { ngx_string("10.0.0.0\0x"), NULL, 0 },
    { ngx_string(" 10.0.0.0/8"), NULL, 0 },
    { ngx_string("10.0.0/24"), NULL, 0 },
    { ngx_string("10"), NULL, 0 },
    { ngx_string("10.0.0.256"), NULL, 0 },
    { ngx_string("010.0.0.1"), NULL, 0 },
    { ngx_string("0x0a.0.0.1"), NULL, 0 },
    { ngx_string("fd00::/129"), NULL, 0 },
    { ngx_string("fd00::1/8"), NULL, 0 },
    { ngx_string("fd00::1/127"), NULL, 0 },
    { ngx_string("[::1]"), NULL, 0 },
    { ngx_string("fe80::1%lo"), NULL, 0 },
    { ngx_string("fd00:::1"), NULL, 0 },
    { ngx_string("fd00"), NULL, 0 },
    { ngx_string("localhost"), NULL, 0 },
    { ngx_string("0000:0000:0000:0000:0000:ffff:255.255.255.2555"), NULL, 0 }
};


/* what these networks permit, and localhost */

static ngx_str_t  unit_texts[] = {
    ngx_string("10.0.0.0/9"), ngx_string("fc00::/7"),
    ngx_string("192.168.7.7"), ngx_string("::1")
};


static unit_address_t  unit_permits[] = {
    { "10.0.0.0", 1 },
    { "10.127.255.255", 1 },
    { "10.128.0.0", 0 },
    { "::ffff:10.1.2.3", 1 },
    { "::ffff:10.128.2.3", 0 },
    { "64:ff9b::10.1.2.3", 0 },
    { "192.168.7.7", 1 },
    { "192.168.7.6", 0 },
    { "192.168.7.8", 0 },
    { "::ffff:192.168.7.7", 1 },
    { "fc00::1", 1 },
    { "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 1 },
    { "fe00::", 0 },
    { "::1", 1 },
    { "::2", 0 },
    { "127.0.0.1", 0 },
    { "8.8.8.8", 1 },
    { "2606:4700::1", 1 }
};


static unit_address_t  unit_locals[] = {
    { "127.0.0.0", 1 },
    { "127.0.0.1", 1 },
    { "127.255.255.255", 1 },
    { "::ffff:127.0.0.1", 1 },
    { "::1", 1 },
    { "126.0.0.1", 1 },
    { "0.0.0.0", 0 },
    { "::", 0 },
    { "::2", 0 },
    { "::127.0.0.1", 0 },
    { "10.0.0.1", 0 },
    { "169.254.169.254", 0 }
};


static size_t
unit_address(const char *text, u_char *address)
{
    if (inet_pton(AF_INET, text, address) == 1) {
        return 4;
    }

    if (inet_pton(AF_INET6, text, address) != 1) {
        abort();
    }

    return 16;
}


/* in memory of its own size */

static ngx_uint_t
unit_permitted(const char *text, ngx_queues_base_rules_t *rules)
{
    u_char      buf[16];
    ngx_str_t   address;
    ngx_uint_t  permitted;

    address.data = buf;
    address.len = unit_address(text, buf);
    address = unit_copy(&address);

    permitted = rules
        ? ngx_queues_base_address_permitted(address.data, address.len, rules)
        : ngx_queues_base_address_public(address.data, address.len);

    free(address.data);

    return permitted;
}


static void
unit_public(void)
{
    char             mapped[64];
    ngx_str_t        name;
    ngx_uint_t       i, bad;
    unit_address_t  *row;

    static ngx_queues_base_rules_t  none;

    for (bad = 0, i = 0; i < UNIT_ROWS(unit_addresses); i++) {
        row = &unit_addresses[i];

        name.data = (u_char *) row->address;
        name.len = strlen(row->address);

        unit_ok(unit_permitted(row->address, NULL) == row->public
                && unit_permitted(row->address, &none) == row->public,
                row->public ? "public" : "not public", &name);

        if (strchr(row->address, ':') == NULL) {
            snprintf(mapped, sizeof(mapped), "::ffff:%s", row->address);
            bad += (unit_permitted(mapped, NULL) != row->public);

            snprintf(mapped, sizeof(mapped), "64:ff9b::%s", row->address);
            bad += (unit_permitted(mapped, NULL) != row->public);

            snprintf(mapped, sizeof(mapped), "::%s", row->address);
            bad += unit_permitted(mapped, NULL);
        }
    }

    unit_ok(bad == 0, "and the same in IPv6, but for compatible ones", NULL);
    unit_ok(UNIT_ROWS(unit_addresses) >= UNIT_ADDRESSES,
            "there are enough addresses", NULL);
}


/* all of the embedded forms, for random addresses */

static void
unit_embedded(void)
{
    u_char      v4[4], v6[16];
    uint32_t    n;
    ngx_uint_t  i, k, public, bad;

    for (bad = 0, i = 0; i < 20000; i++) {
        n = unit_random();

        for (k = 0; k < 4; k++) {
            v4[k] = (u_char) (n >> 8 * k);
        }

        public = ngx_queues_base_address_public(v4, 4);

        ngx_memzero(v6, 16);
        v6[0] = 0x20;
        v6[1] = 0x02;
        memcpy(v6 + 2, v4, 4);
        v6[15] = (u_char) unit_random();
        bad += (ngx_queues_base_address_public(v6, 16) != public);

        /* Teredo: 8.8.8.8 at one place, and the address at the other */

        v6[1] = 0x01;
        v6[2] = v6[3] = 0;
        memcpy(v6 + 4, v4, 4);
        memset(v6 + 12, 0xf7, 4);
        bad += (ngx_queues_base_address_public(v6, 16) != public);

        memset(v6 + 4, 8, 4);

        for (k = 0; k < 4; k++) {
            v6[12 + k] = ~v4[k];
        }

        bad += (ngx_queues_base_address_public(v6, 16) != public);
    }

    unit_ok(bad == 0, "embedded addresses are judged", NULL);

    for (bad = 0, i = 0; i < 32; i++) {
        if (i != 4 && i != 16) {
            u_char  *p = malloc(i ? i : 1);

            memset(p, 8, i ? i : 1);
            bad += ngx_queues_base_address_public(p, i);
            free(p);
        }
    }

    unit_ok(bad == 0, "other lengths are no addresses", NULL);
}


static void
unit_parsed(void)
{
    u_char                      expected[16];
    ngx_str_t                   text;
    ngx_uint_t                  i, ok;
    unit_network_t             *row;
    ngx_queues_base_network_t   network;

    for (i = 0; i < UNIT_ROWS(unit_networks); i++) {
        row = &unit_networks[i];
        text = unit_copy(&row->text);

        if (row->address == NULL) {
            ok = ngx_queues_base_network_parse(&text, &network) == NGX_ERROR;

        } else {
            (void) unit_address(row->address, expected);

            ok = ngx_queues_base_network_parse(&text, &network) == NGX_OK
                 && network.bits == row->bits
                 && memcmp(network.address, expected, 16) == 0;
        }

        unit_ok(ok, row->address ? "network" : "no network", &row->text);

        free(text.data);
    }
}


static void
unit_permit(unit_address_t *rows, ngx_uint_t n, ngx_queues_base_rules_t *rules)
{
    ngx_str_t   name;
    ngx_uint_t  i;

    for (i = 0; i < n; i++) {
        name.data = (u_char *) rows[i].address;
        name.len = strlen(rows[i].address);

        unit_ok(unit_permitted(rows[i].address, rules) == rows[i].public,
                rows[i].public ? "permitted" : "not permitted", &name);
    }
}


static void
unit_rules(void)
{
    ngx_uint_t                 i;
    ngx_str_t                  name;
    ngx_queues_base_rules_t    rules;
    ngx_queues_base_network_t  networks[4];

    ngx_memzero(&rules, sizeof(rules));

    rules.networks = networks;
    rules.nnetworks = 4;

    for (i = 0; i < 4; i++) {
        (void) ngx_queues_base_network_parse(&unit_texts[i], &networks[i]);
    }

    unit_permit(unit_permits, UNIT_ROWS(unit_permits), &rules);

    rules.nnetworks = 0;
    rules.localhost = 1;

    unit_permit(unit_locals, UNIT_ROWS(unit_locals), &rules);

    /* the widest networks */

    rules.localhost = 0;
    rules.nnetworks = 1;

    ngx_str_set(&name, "0.0.0.0/0");
    (void) ngx_queues_base_network_parse(&name, networks);
    unit_ok(unit_permitted("0.0.0.0", &rules)
            && unit_permitted("::ffff:255.255.255.255", &rules)
            && !unit_permitted("::1", &rules), "all of IPv4", NULL);

    ngx_str_set(&name, "::/0");
    (void) ngx_queues_base_network_parse(&name, networks);
    unit_ok(unit_permitted("127.0.0.1", &rules)
            && unit_permitted("::", &rules)
            && unit_permitted("ff02::1", &rules), "everything", NULL);
}


int
main(void)
{
    unit_public();
    unit_embedded();
    unit_parsed();
    unit_rules();

    return unit_done();
}
