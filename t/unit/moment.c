
#include "unit.h"
#include "ngx_queues_base_moment.h"


typedef struct {
    const char  *text;
    int64_t      ms;        /* -1: refused */
} unit_moment_t;


static unit_moment_t  unit_moments[] = {
    { "1970-01-01T00:00:00.000Z", 0 },
    { "2026-07-30T09:12:44.031Z", 1785402764031 },
    { "2000-02-29T23:59:59.999Z", 951868799999 },
    { "2000-03-01T00:00:00Z", 951868800000 },
    { "9999-12-31T23:59:59.999Z", 253402300799999 },
    { "2026-07-30", 1785369600000 },
    { "2026-07-30T09:12", 1785402720000 },
    { "2026-07-30 09:12:44", 1785402764000 },
    { "2026-07-30t09:12:44z", 1785402764000 },
    { "2026-07-30T09:12:44.5Z", 1785402764500 },
    { "2026-07-30T09:12:44.0319999Z", 1785402764031 },
    { "2026-07-30T11:12:44.031+02:00", 1785402764031 },
    { "2026-07-30T11:12:44+0200", 1785402764000 },
    { "2026-07-30T06:42:44-02:30", 1785402764000 },
    { "2026-07-30T11:12:44+02", 1785402764000 },
    { "2026-12-31T23:59:60Z", 1798761599000 },
    { "1969-12-31T23:59:59Z", 0 },
    { "0000-01-01", 0 },
    { "2100-02-28", 4107456000000 },
    { "2100-02-29", -1 },
    { "2026-02-29", -1 },
    { "2026-00-10", -1 },
    { "2026-13-10", -1 },
    { "2026-04-31", -1 },
    { "2026-04-00", -1 },
    { "", -1 },
    { "now", -1 },
    { "2026", -1 },
    { "2026-7-30", -1 },
    { "2026-07-30T", -1 },
    { "2026-07-30T24:00", -1 },
    { "2026-07-30T09:60", -1 },
    { "2026-07-30T09:12:61", -1 },
    { "2026-07-30T09:12:44.Z", -1 },
    { "2026-07-30T09:12:44Zx", -1 },
    { "2026-07-30T09:12:44+2", -1 },
    { "2026-07-30T09:12:44+02:", -1 },
    { "2026-07-30T09:12:44+24:00", -1 },
    { "2026-07-30x09:12", -1 },
    { "-026-07-30", -1 },
    { "2026-07-3\xb0", -1 },
    { "1785402764031", -1 }
};


int
main(void)
{
    u_char       text[NGX_QUEUES_BASE_MOMENT_LEN], *copy;
    int64_t      expected;
    uint64_t     ms;
    ngx_int_t    rc;
    ngx_str_t    name;
    ngx_uint_t   i;

    for (i = 0; i < UNIT_ROWS(unit_moments); i++) {
        name.len = strlen(unit_moments[i].text);
        name.data = copy = malloc(name.len);
        memcpy(copy, unit_moments[i].text, name.len);

        ms = 0;
        rc = ngx_queues_base_moment_parse(&name, &ms);
        expected = unit_moments[i].ms;

        unit_ok(expected < 0 ? rc == NGX_ERROR
                             : rc == NGX_OK && (int64_t) ms == expected,
                "moment", &name);

        if (i < 5 && i != 3) {
            unit_ok(ngx_queues_base_moment_print(text, ms)
                    == text + NGX_QUEUES_BASE_MOMENT_LEN
                    && memcmp(text, name.data, name.len) == 0,
                    "and back", &name);
        }

        free(copy);
    }

    return unit_done();
}
