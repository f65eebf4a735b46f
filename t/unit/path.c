
#include "unit.h"
#include "ngx_queues_base_path.h"


typedef struct {
    ngx_str_t    raw;
    ngx_int_t    rc;
    ngx_str_t    segments;      /* "[a][b]" */
} unit_path_t;


typedef struct {
    ngx_str_t    raw;
    ngx_str_t    template;
    ngx_int_t    rc;
    ngx_str_t    captures;
} unit_match_t;


typedef struct {
    ngx_str_t    name;
    size_t       max;
    ngx_int_t    rc;
} unit_name_t;


#define T  "/v1/organizations/{org}/projects/{project}/queues/{queue}/messages"


static unit_path_t  unit_paths[] = {
    { ngx_string("/"), NGX_OK, ngx_string("[]") },
    { ngx_string("/a"), NGX_OK, ngx_string("[a]") },
    { ngx_string("/a/b"), NGX_OK, ngx_string("[a][b]") },
    { ngx_string("/a/"), NGX_OK, ngx_string("[a][]") },
    { ngx_string("//"), NGX_OK, ngx_string("[][]") },
    { ngx_string("/a//b"), NGX_OK, ngx_string("[a][][b]") },
    { ngx_string("/a%2Fb"), NGX_OK, ngx_string("[a/b]") },
    { ngx_string("/a%2fb/c"), NGX_OK, ngx_string("[a/b][c]") },
    { ngx_string("/a%2525"), NGX_OK, ngx_string("[a%25]") },
    { ngx_string("/a+b"), NGX_OK, ngx_string("[a+b]") },
    { ngx_string("/a%20b"), NGX_OK, ngx_string("[a b]") },
    { ngx_string("/a%2Bb"), NGX_OK, ngx_string("[a+b]") },
    { ngx_string("/./.."), NGX_OK, ngx_string("[.][..]") },
    { ngx_string("/%2e%2e/x"), NGX_OK, ngx_string("[..][x]") },
    { ngx_string("/..%2F..%2Fx"), NGX_OK, ngx_string("[../../x]") },
    { ngx_string("/%3F%23"), NGX_OK, ngx_string("[?#]") },
    { ngx_string("/a?b/c"), NGX_OK, ngx_string("[a]") },
    { ngx_string("/a#b/c"), NGX_OK, ngx_string("[a]") },
    { ngx_string("/a#b?c"), NGX_OK, ngx_string("[a]") },
    { ngx_string("/a?%ZZ%00"), NGX_OK, ngx_string("[a]") },
    { ngx_string("/%7B%7D"), NGX_OK, ngx_string("[{}]") },
    { ngx_string("/%C3%A4"), NGX_OK, ngx_string("[\xc3\xa4]") },
    { ngx_string("/\xc3\xa4"), NGX_OK, ngx_string("[\xc3\xa4]") },
    { ngx_string("/%F0%9F%98%80"), NGX_OK, ngx_string("[\xf0\x9f\x98\x80]") },
    { ngx_string("/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g"), NGX_OK,
      ngx_string("[1][2][3][4][5][6][7][8][9][a][b][c][d][e][f][g]") },
    { ngx_string("/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h"), NGX_DECLINED,
      ngx_string("") },
    { ngx_string("/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/"), NGX_DECLINED,
      ngx_string("") },
    { ngx_string("a"), NGX_DECLINED, ngx_string("") },
    { ngx_string("*"), NGX_DECLINED, ngx_string("") },
    { ngx_string("?a"), NGX_DECLINED, ngx_string("") },
    { ngx_string(""), NGX_DECLINED, ngx_string("") },
    { ngx_string("/%"), NGX_ERROR, ngx_string("") },
    { ngx_string("/%4"), NGX_ERROR, ngx_string("") },
    { ngx_string("/%4/1"), NGX_ERROR, ngx_string("") },
    { ngx_string("/%?41"), NGX_ERROR, ngx_string("") },
    { ngx_string("/%ZZ"), NGX_ERROR, ngx_string("") },
    { ngx_string("/%4g"), NGX_ERROR, ngx_string("") },
    { ngx_string("/%%41"), NGX_ERROR, ngx_string("") },
    { ngx_string("/a/%00"), NGX_ERROR, ngx_string("") },
    { ngx_string("/a/%0A"), NGX_ERROR, ngx_string("") },
    { ngx_string("/a/%1f"), NGX_ERROR, ngx_string("") },
    { ngx_string("/a/%7F"), NGX_ERROR, ngx_string("") },
    { ngx_string("/a/\x01"), NGX_ERROR, ngx_string("") },
    { ngx_string("/%FF"), NGX_ERROR, ngx_string("") },
    { ngx_string("/\xff"), NGX_ERROR, ngx_string("") },
    { ngx_string("/%C0%80"), NGX_ERROR, ngx_string("") },
    { ngx_string("/%C3"), NGX_ERROR, ngx_string("") },
    { ngx_string("/%C3/%A4"), NGX_ERROR, ngx_string("") },
    { ngx_string("/%ED%A0%80"), NGX_ERROR, ngx_string("") }
};


static unit_match_t  unit_matches[] = {
    { ngx_string("/v1/organizations/o/projects/p/queues/q/messages"),
      ngx_string(T), NGX_OK, ngx_string("[o][p][q]") },
    { ngx_string("/v1/organizations/o/projects/p/queues/a%2Fb/messages?x=1"),
      ngx_string(T), NGX_OK, ngx_string("[o][p][a/b]") },
    { ngx_string("/v1/organizations/o/projects/p/queues/q/message%73"),
      ngx_string(T), NGX_OK, ngx_string("[o][p][q]") },
    { ngx_string("/v1/organizations/o/projects/p/queues/%7Bqueue%7D/messages"),
      ngx_string(T), NGX_OK, ngx_string("[o][p][{queue}]") },
    { ngx_string("/v1/organizations/o/projects/p/queues//messages"),
      ngx_string(T), NGX_DECLINED, ngx_string("") },
    { ngx_string("/v1/organizations/o/projects/p/queues/q/messages/"),
      ngx_string(T), NGX_DECLINED, ngx_string("") },
    { ngx_string("/v1/organizations/o/projects/p/queues/q/messages/x"),
      ngx_string(T), NGX_DECLINED, ngx_string("") },
    { ngx_string("/v1/organizations/o/projects/p/queues/q"),
      ngx_string(T), NGX_DECLINED, ngx_string("") },
    { ngx_string("//v1/organizations/o/projects/p/queues/q/messages"),
      ngx_string(T), NGX_DECLINED, ngx_string("") },
    { ngx_string("/v1/organizations/o/projects/p/queues/q/Messages"),
      ngx_string(T), NGX_DECLINED, ngx_string("") },
    { ngx_string("/v1/organizations/o/projects/p/queues/q/messagesx"),
      ngx_string(T), NGX_DECLINED, ngx_string("") },
    { ngx_string("/v1/organizations/o/projects/p/queues/q/message"),
      ngx_string(T), NGX_DECLINED, ngx_string("") },
    { ngx_string("/v1/organizations/o/projects/p/queues/q/xmessages"),
      ngx_string(T), NGX_DECLINED, ngx_string("") },
    { ngx_string("/"), ngx_string(T), NGX_DECLINED, ngx_string("") },
    { ngx_string("/"), ngx_string("/"), NGX_DECLINED, ngx_string("") },
    { ngx_string("/health"), ngx_string("/health"), NGX_OK, ngx_string("") },
    { ngx_string("/health/"), ngx_string("/health"), NGX_DECLINED,
      ngx_string("") },
    { ngx_string("//"), ngx_string("/health"), NGX_DECLINED, ngx_string("") },
    { ngx_string("/t/x:publish"), ngx_string("/t/{topic}:publish"), NGX_OK,
      ngx_string("[x]") },
    { ngx_string("/t/x:publis%68?x=:a"), ngx_string("/t/{topic}:publish"),
      NGX_OK, ngx_string("[x]") },
    { ngx_string("/t/x%3Apublish"), ngx_string("/t/{topic}:publish"),
      NGX_DECLINED, ngx_string("") },
    { ngx_string("/t/x%3apublish"), ngx_string("/t/{topic}"), NGX_OK,
      ngx_string("[x:publish]") },
    { ngx_string("/t/x:publish%3Apublish"), ngx_string("/t/{topic}:publish"),
      NGX_DECLINED, ngx_string("") },
    { ngx_string("/p/my.dom%3Ap/t/%3A%25:x%2525%3A:publish"),
      ngx_string("/p/{p}/t/{topic}:publish"), NGX_OK,
      ngx_string("[my.dom:p][:%:x%25:]") },
    { ngx_string("/p/a:b/t/x"), ngx_string("/p/{p}/t/{topic}"), NGX_OK,
      ngx_string("[a:b][x]") },
    { ngx_string("/t/a:publish:publish"), ngx_string("/t/{topic}:publish"),
      NGX_OK, ngx_string("[a:publish]") },
    { ngx_string("/t/:publish"), ngx_string("/t/{topic}:publish"),
      NGX_DECLINED, ngx_string("") },
    { ngx_string("/t/x:pull"), ngx_string("/t/{topic}:publish"),
      NGX_DECLINED, ngx_string("") },
    { ngx_string("/t/x"), ngx_string("/t/{topic}:publish"), NGX_DECLINED,
      ngx_string("") },
    { ngx_string("/t/x:publish/"), ngx_string("/t/{topic}:publish"),
      NGX_DECLINED, ngx_string("") },
    { ngx_string("/t/x:publish/y:publish"),
      ngx_string("/t/{topic}:publish/{y}"), NGX_DECLINED, ngx_string("") },
    { ngx_string("/t/x.txt"), ngx_string("/t/{name}.txt"), NGX_OK,
      ngx_string("[x]") }
};


static unit_path_t  unit_queries[] = {
    { ngx_string(""), NGX_OK, ngx_string("") },
    { ngx_string("&"), NGX_OK, ngx_string("") },
    { ngx_string("a=1"), NGX_OK, ngx_string("[a=1]") },
    { ngx_string("a=1&b=2"), NGX_OK, ngx_string("[a=1][b=2]") },
    { ngx_string("&&a=1&&b=2&"), NGX_OK, ngx_string("[a=1][b=2]") },
    { ngx_string("a=1&a=2"), NGX_OK, ngx_string("[a=1][a=2]") },
    { ngx_string("a"), NGX_OK, ngx_string("[a=]") },
    { ngx_string("a="), NGX_OK, ngx_string("[a=]") },
    { ngx_string("=1"), NGX_OK, ngx_string("[=1]") },
    { ngx_string("="), NGX_OK, ngx_string("[=]") },
    { ngx_string("a=b=c"), NGX_OK, ngx_string("[a=b=c]") },
    { ngx_string("a=b+c%2Bd%20e"), NGX_OK, ngx_string("[a=b c+d e]") },
    { ngx_string("a%26b%3D=%26%3d"), NGX_OK, ngx_string("[a&b==&=]") },
    { ngx_string("a=%2525"), NGX_OK, ngx_string("[a=%25]") },
    { ngx_string("a=/?#;b"), NGX_OK, ngx_string("[a=/?#;b]") },
    { ngx_string("%C3%A4=\xc3\xa4"), NGX_OK,
      ngx_string("[\xc3\xa4=\xc3\xa4]") },
    { ngx_string("a=%"), NGX_ERROR, ngx_string("") },
    { ngx_string("a=%2&41"), NGX_ERROR, ngx_string("") },
    { ngx_string("a=1&b=%ZZ"), NGX_ERROR, ngx_string("[a=1]") },
    { ngx_string("%=1"), NGX_ERROR, ngx_string("") },
    { ngx_string("%4=1"), NGX_ERROR, ngx_string("") },
    { ngx_string("a=%FF"), NGX_ERROR, ngx_string("") },
    { ngx_string("a=%C3&b=%A4"), NGX_ERROR, ngx_string("") },
    { ngx_string("%C3=%A4"), NGX_ERROR, ngx_string("") },
    { ngx_string("a=%00"), NGX_ERROR, ngx_string("") },
    { ngx_string("a=%0d%0a"), NGX_ERROR, ngx_string("") }
};


static unit_name_t  unit_names[] = {
    { ngx_string("a"), 1, NGX_OK },
    { ngx_string("azAZ09_-"), 8, NGX_OK },
    { ngx_string("azAZ09_-"), 7, NGX_ERROR },
    { ngx_string(""), 8, NGX_ERROR },
    { ngx_string("a.b"), 8, NGX_ERROR },
    { ngx_string("a b"), 8, NGX_ERROR },
    { ngx_string("a/b"), 8, NGX_ERROR },
    { ngx_string("a\0"), 8, NGX_ERROR },
    { ngx_string("{a}"), 8, NGX_ERROR },
    { ngx_string("\xc3\xa4"), 8, NGX_ERROR }
};


static u_char *
unit_append(u_char *p, const char *before, ngx_str_t *text, const char *after)
{
    p = ngx_cpymem(p, before, strlen(before));
    p = ngx_cpymem(p, text->data, text->len);

    return ngx_cpymem(p, after, strlen(after));
}


static void
unit_path_table(void)
{
    u_char                  shown[256], *p, *buf;
    ngx_str_t               raw, s;
    ngx_int_t               rc;
    ngx_uint_t              i, k;
    ngx_queues_base_path_t  path;

    for (i = 0; i < UNIT_ROWS(unit_paths); i++) {
        raw = unit_copy(&unit_paths[i].raw);
        buf = malloc(raw.len + 1);
        p = shown;

        rc = ngx_queues_base_path_split(&raw, 0, buf, &path);

        for (k = 0; rc == NGX_OK && k < path.nsegments; k++) {
            p = unit_append(p, "[", &path.segments[k], "]");
        }

        s.data = shown;
        s.len = p - shown;
        unit_ok(rc == unit_paths[i].rc
                && unit_same(&s, &unit_paths[i].segments), "path", &raw);

        free(raw.data);
        free(buf);
    }
}


/* where they are allowed */

static void
unit_controls(void)
{
    u_char                   buf[16];
    ngx_str_t                raw, name, value, text;
    ngx_queues_base_path_t   path;
    ngx_queues_base_query_t  query;

    ngx_str_set(&raw, "/a%00%7F%0a");
    ngx_str_set(&text, "a\0\x7f\n");

    unit_ok(ngx_queues_base_path_split(&raw, 1, buf, &path) == NGX_OK
            && unit_same(&path.segments[0], &text), "path", &raw);

    ngx_str_set(&raw, "x=a%00%7F%0a");
    ngx_queues_base_query_open(&query, &raw, 1, buf);

    unit_ok(ngx_queues_base_query_next(&query, &name, &value) == NGX_OK
            && unit_same(&value, &text), "query", &raw);
}


static void
unit_match_table(void)
{
    u_char                  shown[256], buf[256], *p;
    ngx_str_t               raw, template, captures[4], s;
    ngx_int_t               rc;
    ngx_uint_t              i, k;
    ngx_queues_base_path_t  path;

    for (i = 0; i < UNIT_ROWS(unit_matches); i++) {
        raw = unit_copy(&unit_matches[i].raw);
        template = unit_copy(&unit_matches[i].template);
        ngx_memzero(captures, sizeof(captures));
        p = shown;

        rc = ngx_queues_base_path_split(&raw, 0, buf, &path);

        if (rc == NGX_OK) {
            rc = ngx_queues_base_path_match(&path, &template, captures);
        }

        for (k = 0; rc == NGX_OK && k < 4 && captures[k].len; k++) {
            p = unit_append(p, "[", &captures[k], "]");
        }

        s.data = shown;
        s.len = p - shown;
        unit_ok(rc == unit_matches[i].rc
                && unit_same(&s, &unit_matches[i].captures),
                rc == NGX_OK ? "match" : "no match", &raw);

        free(raw.data);
        free(template.data);
    }
}


static void
unit_query_table(void)
{
    u_char                   shown[256], *p, *buf;
    ngx_str_t                raw, name, value, s;
    ngx_int_t                rc;
    ngx_uint_t               i;
    ngx_queues_base_query_t  query;

    for (i = 0; i < UNIT_ROWS(unit_queries); i++) {
        raw = unit_copy(&unit_queries[i].raw);
        buf = malloc(raw.len + 1);
        p = shown;

        ngx_queues_base_query_open(&query, &raw, 0, buf);

        while ((rc = ngx_queues_base_query_next(&query, &name, &value))
               == NGX_OK)
        {
            p = unit_append(p, "[", &name, "=");
            p = unit_append(p, "", &value, "]");
        }

        s.data = shown;
        s.len = p - shown;
        unit_ok(rc == (unit_queries[i].rc == NGX_OK ? NGX_DONE : NGX_ERROR)
                && unit_same(&s, &unit_queries[i].segments)
                && ngx_queues_base_query_next(&query, &name, &value)
                   == NGX_DONE,
                "query", &raw);

        free(raw.data);
        free(buf);
    }
}


int
main(void)
{
    ngx_str_t   name;
    ngx_uint_t  i, n;
    u_char      c;

    unit_path_table();
    unit_controls();
    unit_match_table();
    unit_query_table();

    for (i = 0; i < UNIT_ROWS(unit_names); i++) {
        name = unit_copy(&unit_names[i].name);
        unit_ok(ngx_queues_base_name_check(&name, unit_names[i].max)
                == unit_names[i].rc, "name", &name);
        free(name.data);
    }

    name.data = &c;
    name.len = 1;

    for (n = 0, i = 0; i < 256; i++) {
        c = (u_char) i;
        n += (ngx_queues_base_name_check(&name, 1) == NGX_OK);
    }

    unit_ok(n == 26 + 26 + 10 + 2, "64 bytes may be in a name", NULL);

    return unit_done();
}
