
/*
 * Lines of the keys file: the fields are those that stand between blanks, and
 * a line that is accepted is so again when it is written from its fields.
 * Each line is read as a grant, too, PERMISSIONS@RESOURCES.
 */

#include "fuzz.h"
#include "ngx_queues_base_keys.h"


#define FUZZ_FIELDS  5


static ngx_uint_t
fuzz_fields(ngx_str_t *line, ngx_str_t *fields)
{
    u_char      *p, *last, *start;
    ngx_uint_t   n;

    last = line->data + line->len;

    if (line->len && last[-1] == '\r') {
        last--;
    }

    n = 0;

    for (p = line->data; p < last; /* void */ ) {
        if (*p == ' ' || *p == '\t') {
            p++;
            continue;
        }

        for (start = p; p < last && *p != ' ' && *p != '\t'; p++) {
            /* void */
        }

        if (n < FUZZ_FIELDS) {
            fields[n].data = start;
            fields[n].len = p - start;
        }

        n++;
    }

    return n;
}


static ngx_uint_t
fuzz_good_list(ngx_str_t *list, ngx_uint_t commas)
{
    size_t  i;

    for (i = 0; i < list->len; i++) {
        if (!isgraph(list->data[i])) {
            return 0;
        }

        if (commas && list->data[i] == ','
            && (i == 0 || i + 1 == list->len || list->data[i + 1] == ','))
        {
            return 0;
        }
    }

    return 1;
}


static ngx_uint_t
fuzz_good(ngx_str_t *fields, ngx_uint_t n)
{
    size_t  i;

    for (i = 0; i < fields[0].len && isxdigit(fields[0].data[i]); i++) {
        /* void */
    }

    return n == 4 && fields[0].len == 64 && i == 64
           && fuzz_good_list(&fields[1], 0) && fuzz_good_list(&fields[2], 1)
           && fuzz_good_list(&fields[3], 1);
}


static void
fuzz_again(ngx_queues_base_keys_line_t *key)
{
    u_char                       *p;
    ngx_str_t                     line;
    ngx_uint_t                    i;
    const char                   *error;
    ngx_queues_base_keys_line_t   again;

    line.data = fuzz_alloc(64 + 3 + key->principal.len + key->grant.permissions.len
                           + key->grant.resources.len + 1);
    p = line.data;

    for (i = 0; i < sizeof(key->hash); i++) {
        p += sprintf((char *) p, "%02x", key->hash[i]);
    }

    *p++ = ' ';
    p = ngx_cpymem(p, key->principal.data, key->principal.len);
    *p++ = '\t';
    p = ngx_cpymem(p, key->grant.permissions.data, key->grant.permissions.len);
    *p++ = ' ';
    p = ngx_cpymem(p, key->grant.resources.data, key->grant.resources.len);
    *p++ = '\r';

    line.len = p - line.data;

    fuzz_assert(ngx_queues_base_keys_parse(&line, &again, &error) == NGX_OK);
    fuzz_assert(memcmp(again.hash, key->hash, sizeof(key->hash)) == 0);
    fuzz_assert(fuzz_same(&again.principal, &key->principal));
    fuzz_assert(fuzz_same(&again.grant.permissions, &key->grant.permissions));
    fuzz_assert(fuzz_same(&again.grant.resources, &key->grant.resources));

    free(line.data);
}


/* the lists of a line are those of its grant, where they have no @ */

static void
fuzz_as_grant(ngx_queues_base_keys_line_t *key)
{
    u_char                        *p;
    ngx_int_t                      rc;
    ngx_str_t                      text;
    ngx_queues_base_keys_grant_t   grant;

    text.len = key->grant.permissions.len + 1 + key->grant.resources.len;
    text.data = fuzz_alloc(text.len);

    p = ngx_cpymem(text.data, key->grant.permissions.data,
                   key->grant.permissions.len);
    *p++ = '@';
    memcpy(p, key->grant.resources.data, key->grant.resources.len);

    rc = ngx_queues_base_keys_grant(&text, &grant);

    if (memchr(text.data, '@', text.len) != p - 1
        || memchr(p, '@', key->grant.resources.len))
    {
        fuzz_assert(rc == NGX_ERROR);

    } else {
        fuzz_assert(rc == NGX_OK);
        fuzz_assert(fuzz_same(&grant.permissions, &key->grant.permissions));
        fuzz_assert(fuzz_same(&grant.resources, &key->grant.resources));
    }

    free(text.data);
}


static void
fuzz_grant(ngx_str_t *text)
{
    size_t                        i;
    ngx_int_t                     rc;
    ngx_str_t                     rest, permissions;
    ngx_uint_t                    good, ats;
    ngx_queues_base_keys_grant_t  grant;

    rc = ngx_queues_base_keys_grant(text, &grant);

    for (i = 0, ats = 0; i < text->len; i++) {
        ats += (text->data[i] == '@');
    }

    rest = *text;
    permissions = fuzz_take(&rest, '@');

    good = ats == 1 && permissions.len && rest.len
           && fuzz_good_list(&permissions, 1) && fuzz_good_list(&rest, 1);

    fuzz_assert(rc == (good ? NGX_OK : NGX_ERROR));

    if (good) {
        fuzz_assert(grant.permissions.data == text->data
                    && fuzz_same(&grant.permissions, &permissions));
        fuzz_assert(grant.resources.data == rest.data
                    && grant.resources.len == rest.len);
    }

    free(permissions.data);
}


static void
fuzz_line(ngx_str_t *line)
{
    ngx_int_t                     rc;
    ngx_str_t                     fields[FUZZ_FIELDS];
    ngx_uint_t                    n;
    const char                   *error;
    ngx_queues_base_keys_line_t   key;

    error = NULL;
    n = fuzz_fields(line, fields);
    rc = ngx_queues_base_keys_parse(line, &key, &error);

    if (n == 0 || fields[0].data[0] == '#') {
        fuzz_assert(rc == NGX_DECLINED && error == NULL);
        return;
    }

    if (!fuzz_good(fields, n)) {
        fuzz_assert(rc == NGX_ERROR && error && *error);
        return;
    }

    fuzz_assert(rc == NGX_OK && error == NULL);
    fuzz_assert(fuzz_same(&key.principal, &fields[1]));
    fuzz_assert(fuzz_same(&key.grant.permissions, &fields[2]));
    fuzz_assert(fuzz_same(&key.grant.resources, &fields[3]));

    fuzz_again(&key);
    fuzz_as_grant(&key);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t  rest, line;

    rest.data = (u_char *) data;
    rest.len = size;

    do {
        line = fuzz_take(&rest, '\n');
        fuzz_line(&line);
        fuzz_grant(&line);
        free(line.data);
    } while (rest.len);

    return 0;
}
