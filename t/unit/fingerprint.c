
#include "unit.h"
#include "ngx_queues_base_fingerprint.h"


typedef struct {
    ngx_str_t    lane;
    ngx_str_t    id;
    const char  *hash;
} unit_fingerprint_t;


/* as of "printf 'LANE\nID' | sha1sum" */

static unit_fingerprint_t  unit_fingerprints[] = {
    { ngx_string("p-1"), ngx_string("01938f2c-7a10-7000-8000-000000000001"),
      "a1a41f1b1883adee6f80f8a50ff3" },
    { ngx_string("a"), ngx_string(""), "3f786850e387550fdab836ed7e6d" },
    { ngx_string(""), ngx_string(""), "adc83b19e793491b1c6ea0fd8b46" },
    { ngx_string("a\\u0001"), ngx_string("b"), "b1560f301e8417006385f12db735" }
};


int
main(void)
{
    u_char               hash[NGX_QUEUES_BASE_FINGERPRINT];
    u_char               hex[2 * sizeof(hash)];
    ngx_str_t            lane, id;
    ngx_uint_t           i, k;
    unit_fingerprint_t  *row;

    static const u_char  digits[] = "0123456789abcdef";

    for (i = 0; i < UNIT_ROWS(unit_fingerprints); i++) {
        row = &unit_fingerprints[i];
        lane = unit_copy(&row->lane);
        id = unit_copy(&row->id);

        unit_ok(ngx_queues_base_fingerprint(hash, &lane, &id) == NGX_OK,
                "it is made", &id);

        for (k = 0; k < sizeof(hash); k++) {
            hex[2 * k] = digits[hash[k] >> 4];
            hex[2 * k + 1] = digits[hash[k] & 15];
        }

        unit_ok(memcmp(hex, row->hash, sizeof(hex)) == 0, "the hash", &id);

        free(lane.data);
        free(id.data);
    }

    return unit_done();
}
