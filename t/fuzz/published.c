
/*
 * A message as it is stored: its parts are in it, and whatever its attributes and
 * its ordering key are, the lines of headers made of them are a few whole ones
 * that no server could take for something else.
 */

#include "fuzz.h"
#include "ngx_queues_base_json.h"
#include "ngx_queues_base_published.h"

#include <regex.h>


#define FUZZ_LINE  "^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([ -~]*)\r\n"

#define FUZZ_RESERVED                                                         \
    "^(host|content[-_]length|transfer[-_]encoding|connection|keep[-_]alive|" \
    "te|trailer|upgrade|expect|authorization|proxy[-_].*|cookie|"             \
    "accept-encoding|x[-_]goog[-_]pubsub[-_].*|webhook[-_].*|"                \
    ".*[-_]signature)$"


static regex_t  fuzz_line, fuzz_reserved;


static void
fuzz_compile(void)
{
    static ngx_uint_t  done;

    if (!done) {
        done = 1;

        fuzz_assert(regcomp(&fuzz_line, FUZZ_LINE, REG_EXTENDED) == 0);
        fuzz_assert(regcomp(&fuzz_reserved, FUZZ_RESERVED,
                            REG_EXTENDED|REG_ICASE|REG_NOSUB) == 0);
    }
}


static ngx_uint_t
fuzz_in(ngx_str_t *part, ngx_str_t *text)
{
    return part->len == 0
           || (part->data >= text->data
               && part->data + part->len <= text->data + text->len);
}


static void
fuzz_lines(char *text, ngx_uint_t found)
{
    char        *name;
    ngx_uint_t   types, agents;
    regmatch_t   m[3];

    types = 0;
    agents = 0;

    while (*text) {
        fuzz_assert(regexec(&fuzz_line, text, 3, m, 0) == 0);

        name = text;
        name[m[1].rm_eo] = '\0';
        text += m[0].rm_eo;

        fuzz_assert(regexec(&fuzz_reserved, name, 0, NULL, 0) != 0);

        types += (strcasecmp(name, "content-type") == 0);
        agents += (strcasecmp(name, "user-agent") == 0);
    }

    fuzz_assert(types == !!(found & NGX_QUEUES_BASE_HEADER_TYPE)
                && agents == !!(found & NGX_QUEUES_BASE_HEADER_AGENT));
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char                       *buf, *lines, *p;
    size_t                        len;
    ngx_str_t                     text;
    ngx_uint_t                    found;
    ngx_queues_base_published_t   m;

    fuzz_compile();

    text = fuzz_copy((u_char *) data, size);

    ngx_queues_base_published_read(&text, &m);

    fuzz_assert(fuzz_in(&m.data, &text) && fuzz_in(&m.attributes, &text)
                && fuzz_in(&m.key, &text));

    buf = fuzz_alloc(NGX_QUEUES_BASE_HEADERS_MAX);
    len = ngx_queues_base_published_headers(buf, &m, &found) - buf;

    fuzz_assert(len <= NGX_QUEUES_BASE_HEADERS_MAX);

    lines = fuzz_alloc(len + 1);
    memcpy(lines, buf, len);
    lines[len] = '\0';
    free(buf);

    fuzz_assert(strlen((char *) lines) == len);
    fuzz_lines((char *) lines, found);
    free(lines);

    buf = fuzz_alloc(NGX_QUEUES_BASE_ORDERING_KEY_MAX);
    p = ngx_queues_base_published_key(buf, &m);

    while (p > buf) {
        p--;
        fuzz_assert(*p >= ' ' && *p <= '~');
    }

    free(buf);
    free(text.data);

    return 0;
}
