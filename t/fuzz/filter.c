
/*
 * Filters: the program is run, and the tokens of the filter are judged as they
 * stand, by taking them apart at their ANDs and ORs; both must say the same of
 * some messages.
 */

#include "fuzz.h"
#include "ngx_queues_base_filter.h"

#include <ctype.h>


#define FUZZ_MESSAGES  6


/* kind is a sign, '!' of !=, or 'w' and 's' of words and strings */

typedef struct {
    u_char       kind;
    ngx_str_t    text;          /* decoded */
} fuzz_token_t;


static fuzz_token_t  fuzz_tokens[NGX_QUEUES_BASE_FILTER_MAX];
static ngx_uint_t    fuzz_ntokens;
static u_char        fuzz_decoded[NGX_QUEUES_BASE_FILTER_MAX];
static ngx_uint_t    fuzz_message;


/*
 * The value of an attribute of this message, which is made up from the key:
 * there is none, or it is a text of the filter, perhaps with more behind it.
 */

static ngx_uint_t
fuzz_attribute(ngx_str_t *key, ngx_str_t *value)
{
    size_t         i;
    uint32_t       n;
    static u_char  text[NGX_QUEUES_BASE_FILTER_MAX + 1];

    n = 2166136261 + fuzz_message;

    for (i = 0; i < key->len; i++) {
        n = (n ^ key->data[i]) * 16777619;
    }

    n ^= n >> 15;

    if (n % 4 == 0) {
        return 0;
    }

    value->data = text;
    value->len = 0;

    if (n % 4 > 1) {
        *value = fuzz_tokens[n / 4 % fuzz_ntokens].text;
        ngx_memcpy(text, value->data, value->len);
        value->data = text;
    }

    if (n % 4 == 3) {
        text[value->len++] = 'x';
    }

    return 1;
}


static ngx_uint_t
fuzz_test(u_char what, ngx_str_t *key, ngx_str_t *value)
{
    ngx_str_t  is;

    if (!fuzz_attribute(key, &is)) {
        return what == 'n';
    }

    switch (what) {

    case 'h':
        return 1;

    case 'p':
        return is.len >= value->len
               && memcmp(is.data, value->data, value->len) == 0;

    case 'e':
        return fuzz_same(&is, value);

    default:
        return !fuzz_same(&is, value);
    }
}


/* the character of an escape behind its backslash, and its length or 0 */

static size_t
fuzz_escape(const char *p, size_t len, uint32_t *c)
{
    char               digits[9];
    size_t             i, n;
    const char        *known;
    static const char  letters[] = "a\ab\bf\fn\nr\rt\tv\v\\\\//\"\"''??``";

    for (known = letters; *known; known += 2) {
        if (len && *p == *known) {
            *c = (u_char) known[1];
            return 1;
        }
    }

    n = (len == 0) ? 0
        : (*p == 'x') ? 2 : (*p == 'u') ? 4 : (*p == 'U') ? 8 : 0;

    if (n == 0) {

        for (i = 0; i < 3; i++) {
            if (i == len || p[i] < '0' || p[i] > (i ? '7' : '3')) {
                return 0;
            }
        }

        *c = (p[0] - '0') * 64 + (p[1] - '0') * 8 + p[2] - '0';

        return 3;
    }

    if (len <= n) {
        return 0;
    }

    for (i = 0; i < n; i++) {
        digits[i] = p[i + 1];

        if (!isxdigit((u_char) digits[i])) {
            return 0;
        }
    }

    digits[n] = '\0';
    *c = (uint32_t) strtoul(digits, NULL, 16);

    return n + 1;
}


/* where a string ends that begins there, or NULL */

static u_char *
fuzz_string(u_char *p, u_char *last, u_char **text)
{
    size_t    n;
    uint32_t  c, low;

    for (p++; p < last && *p != '"'; ) {

        if (*p != '\\') {
            if (*p < ' ') {
                return NULL;
            }

            *(*text)++ = *p++;
            continue;
        }

        n = fuzz_escape((char *) p + 1, last - p - 1, &c);

        if (n == 0 || c > 0x10ffff) {
            return NULL;
        }

        p += n + 1;

        if (c >= 0xd800 && c < 0xe000) {

            if (n != 5 || c >= 0xdc00 || last - p < 6 || p[0] != '\\'
                || p[1] != 'u' || fuzz_escape((char *) p + 1, 5, &low) != 5
                || low < 0xdc00 || low >= 0xe000)
            {
                return NULL;
            }

            p += 6;
            c = (c - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000;
        }

        if (c < 0x80) {
            *(*text)++ = c;

        } else {
            n = (c < 0x800) ? 2 : (c < 0x10000) ? 3 : 4;

            *(*text)++ = (u_char) (0xf00 >> n) | c >> 6 * (n - 1);

            while (--n) {
                *(*text)++ = 0x80 | (c >> 6 * (n - 1) & 0x3f);
            }
        }
    }

    return p < last ? p + 1 : NULL;
}


static ngx_uint_t
fuzz_read(ngx_str_t *filter)
{
    u_char        *p, *last, *text;
    fuzz_token_t  *token;

    p = filter->data;
    last = p + filter->len;
    text = fuzz_decoded;
    token = fuzz_tokens;

    while (p < last) {

        if (strchr(" \t\r\n", *p) && *p) {
            p++;
            continue;
        }

        token->kind = *p;
        token->text.data = text;

        if (*p == '"') {
            token->kind = 's';
            p = fuzz_string(p, last, &text);

            if (p == NULL) {
                return 0;
            }

        } else if (isalnum(*p) || *p == '_') {
            token->kind = 'w';

            while (p < last && (isalnum(*p) || *p == '_' || *p == '-')) {
                *text++ = *p++;
            }

        } else if (*p == '!' && last - p > 1 && p[1] == '=') {
            p += 2;

        } else if (*p && strchr("(),.:-=", *p)) {
            p++;

        } else {
            return 0;
        }

        token->text.len = text - token->text.data;
        token++;
    }

    fuzz_ntokens = token - fuzz_tokens;

    return 1;
}


static ngx_uint_t
fuzz_is(ngx_uint_t i, const char *word)
{
    return fuzz_tokens[i].kind == 'w'
           && fuzz_tokens[i].text.len == strlen(word)
           && memcmp(fuzz_tokens[i].text.data, word, strlen(word)) == 0;
}


/* 0 or 1, or -1 where the tokens from i to k are no test */

static int
fuzz_judge_test(ngx_uint_t i, ngx_uint_t k)
{
    char        kinds[10];
    ngx_uint_t  n;

    if (k - i < 3 || k - i > 8) {
        return -1;
    }

    for (n = 0; n < k - i; n++) {
        kinds[n] = fuzz_tokens[i + n].kind;
    }

    kinds[n] = '\0';

    if (fuzz_is(i, "attributes")) {

        if (strcmp(kinds, "w:w") == 0 || strcmp(kinds, "w:s") == 0) {
            return fuzz_test('h', &fuzz_tokens[i + 2].text, NULL);
        }

        if (strcmp(kinds, "w.w=s") == 0 || strcmp(kinds, "w.s=s") == 0) {
            return fuzz_test('e', &fuzz_tokens[i + 2].text,
                             &fuzz_tokens[i + 4].text);
        }

        if (strcmp(kinds, "w.w!s") == 0 || strcmp(kinds, "w.s!s") == 0) {
            return fuzz_test('n', &fuzz_tokens[i + 2].text,
                             &fuzz_tokens[i + 4].text);
        }
    }

    if (fuzz_is(i, "hasPrefix") && fuzz_is(i + 2, "attributes")
        && (strcmp(kinds, "w(w.w,s)") == 0 || strcmp(kinds, "w(w.s,s)") == 0))
    {
        return fuzz_test('p', &fuzz_tokens[i + 4].text,
                         &fuzz_tokens[i + 6].text);
    }

    return -1;
}


static int
fuzz_judge(ngx_uint_t i, ngx_uint_t k, ngx_uint_t depth)
{
    int         result, one, negated;
    u_char      joined;
    ngx_uint_t  n, open, start;

    if (depth > NGX_QUEUES_BASE_FILTER_DEPTH) {
        return -1;
    }

    joined = '\0';
    open = 0;
    start = i;
    result = -2;

    for (n = i; n <= k; n++) {

        if (n < k) {

            if (fuzz_tokens[n].kind == '(') {
                open++;

            } else if (fuzz_tokens[n].kind == ')' && open-- == 0) {
                return -1;
            }

            if (open || !(fuzz_is(n, "AND") || fuzz_is(n, "OR"))
                || (n > i && strchr(".:", fuzz_tokens[n - 1].kind)))
            {
                continue;
            }

            if (joined && joined != fuzz_tokens[n].text.data[0]) {
                return -1;
            }

            joined = fuzz_tokens[n].text.data[0];
        }

        negated = 0;

        while (start < n && (fuzz_tokens[start].kind == '-'
                             || fuzz_is(start, "NOT")))
        {
            negated ^= 1;
            start++;
        }

        if (start == n) {
            return -1;
        }

        if (fuzz_tokens[start].kind == '(') {
            one = (fuzz_tokens[n - 1].kind == ')')
                  ? fuzz_judge(start + 1, n - 1, depth + 1) : -1;

        } else {
            one = fuzz_judge_test(start, n);
        }

        if (one < 0) {
            return -1;
        }

        one ^= negated;
        result = (result == -2) ? one
                 : (joined == 'A') ? (result & one) : (result | one);

        start = n + 1;
    }

    return result;
}


static size_t
fuzz_decimal(u_char **p, u_char *last)
{
    size_t  n;

    fuzz_assert(*p < last && isdigit(**p));
    fuzz_assert(**p != '0' || last - *p < 2 || !isdigit((*p)[1]));

    for (n = 0; *p < last && isdigit(**p); (*p)++) {
        n = n * 10 + (**p - '0');
    }

    return n;
}


static ngx_str_t
fuzz_operand(u_char **p, u_char *last)
{
    ngx_str_t  text;

    fuzz_assert(*p < last && *(*p)++ == ' ');

    text.len = fuzz_decimal(p, last);

    fuzz_assert(*p < last && *(*p)++ == ':');
    fuzz_assert((size_t) (last - *p) >= text.len);

    text.data = *p;
    *p += text.len;

    return text;
}


static int
fuzz_run(ngx_str_t *program)
{
    u_char      *p, *last, what;
    size_t       n;
    ngx_str_t    key, value;
    ngx_uint_t   top, stack[NGX_QUEUES_BASE_FILTER_MAX];

    p = program->data;
    last = p + program->len;
    top = 0;

    while (p < last) {
        what = *p++;

        if (strchr("henp", what) && what) {
            key = fuzz_operand(&p, last);
            value = key;

            if (what != 'h') {
                value = fuzz_operand(&p, last);
            }

            stack[top++] = fuzz_test(what, &key, &value);

        } else if (what == '!') {
            fuzz_assert(top > 0);
            stack[top - 1] ^= 1;

        } else {
            fuzz_assert(what == '&' || what == '|');
            fuzz_assert(p < last && *p++ == ' ');

            n = fuzz_decimal(&p, last);

            fuzz_assert(n >= 2 && n <= top);

            for ( /* void */ ; n > 1; n--) {
                top--;
                stack[top - 1] = (what == '&') ? stack[top - 1] & stack[top]
                                               : stack[top - 1] | stack[top];
            }
        }

        fuzz_assert(p < last && *p++ == '\n');
    }

    fuzz_assert(top == 1);

    return (int) stack[0];
}


static void
fuzz_error(ngx_str_t *filter, ngx_queues_base_filter_error_t *error)
{
    u_char      *p;
    uint32_t     c;
    ngx_uint_t   line, column;

    fuzz_assert(error->text && error->token.data >= filter->data
                && error->token.data + error->token.len
                   <= filter->data + filter->len);

    line = 1;
    column = 1;

    for (p = filter->data; p < error->token.data;
         p += fuzz_utf8(p, filter->data + filter->len, &c))
    {
        column = (*p == '\n') ? 1 : column + 1;
        line += (*p == '\n');
    }

    fuzz_assert(p == error->token.data);
    fuzz_assert(error->line == line && error->column == column);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int                             judged;
    ngx_int_t                       rc;
    ngx_str_t                       filter, program;
    ngx_uint_t                      right;
    ngx_queues_base_filter_error_t  error;

    filter = fuzz_copy(data, size);

    if (!fuzz_utf8_all(&filter)) {
        goto done;
    }

    /* a program is not longer than its filter */

    program.data = fuzz_alloc(ngx_min(size, NGX_QUEUES_BASE_FILTER_MAX));
    program.len = 0;

    rc = ngx_queues_base_filter_parse(&filter, &program, &error);

    right = (size <= NGX_QUEUES_BASE_FILTER_MAX && fuzz_read(&filter)
             && fuzz_ntokens);

    for (fuzz_message = 0; fuzz_message < FUZZ_MESSAGES; fuzz_message++) {

        judged = right ? fuzz_judge(0, fuzz_ntokens, 0) : -1;

        if (judged < 0) {
            fuzz_assert(rc == NGX_ERROR);
            fuzz_error(&filter, &error);
            break;
        }

        fuzz_assert(rc == NGX_OK && program.len <= size);
        fuzz_assert(fuzz_run(&program) == judged);
    }

    free(program.data);

done:

    free(filter.data);

    return 0;
}
