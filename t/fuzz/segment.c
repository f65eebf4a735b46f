
/*
 * Segments of a log, of any bytes: what is read is what a second reading finds,
 * and put together again it is the segment.
 */

#include "fuzz.h"
#include "ngx_queues_base_segment.h"


typedef struct {
    ngx_str_t   rest;
    uint64_t    numbers[7];
} fuzz_head_t;


/* seven numbers of digits alone, in a line; 0: it is not so */

static ngx_uint_t
fuzz_head(ngx_str_t *text, fuzz_head_t *head)
{
    size_t             i, digits;
    ngx_uint_t         k;
    unsigned __int128  sum;

    k = 0;
    digits = 0;
    sum = 0;

    for (i = 0; i < text->len; i++) {

        if (isdigit(text->data[i])) {
            sum = sum * 10 + text->data[i] - '0';

            if (sum > UINT64_MAX) {
                return 0;
            }

            digits++;
            continue;
        }

        if (digits == 0 || text->data[i] != (k < 6 ? ':' : '\n')) {
            return 0;
        }

        head->numbers[k++] = (uint64_t) sum;
        digits = 0;
        sum = 0;

        if (k == 7) {
            head->rest.data = text->data + i + 1;
            head->rest.len = text->len - i - 1;
            return 1;
        }
    }

    return 0;
}


/* how many words there are in a text of so many bytes */

static uint64_t
fuzz_words(u_char *p, uint64_t len, u_char separator)
{
    uint64_t  n;

    for (n = 1; len; len--) {
        n += (*p++ == separator);
    }

    return n;
}


/* lengths that are numbers, of which the sum is this one */

static ngx_uint_t
fuzz_lengths(u_char *p, uint64_t len, size_t all)
{
    size_t             digits;
    unsigned __int128  sum, n;

    sum = 0;
    n = 0;
    digits = 0;

    for ( ;; ) {
        if (len == 0 || *p == ' ') {
            if (digits == 0) {
                return 0;
            }

            sum += n;
            n = 0;
            digits = 0;

            if (len == 0) {
                return sum == all;
            }

        } else if (isdigit(*p)) {
            n = n * 10 + *p - '0';
            digits++;

            if (n > UINT64_MAX) {
                return 0;
            }

        } else {
            return 0;
        }

        p++;
        len--;
    }
}


static ngx_uint_t
fuzz_good(fuzz_head_t *head)
{
    u_char    *p;
    uint64_t  *n;

    n = head->numbers;
    p = head->rest.data;

    p += n[3];

    if (fuzz_words(p, n[4], '\n') != n[1]) {
        return 0;
    }

    p += n[4];

    if (n[5] && fuzz_words(p, n[5], '\n') != n[1]) {
        return 0;
    }

    p += n[5];

    return fuzz_words(p, n[6], ' ') == n[1]
           && fuzz_lengths(p, n[6], head->rest.data + head->rest.len
                                    - (p + n[6]));
}


static u_char *
fuzz_expect(u_char *p, ngx_str_t *text, ngx_uint_t first, u_char separator)
{
    fuzz_assert(first || *p++ == separator);
    fuzz_assert(text->len == 0 || memcmp(p, text->data, text->len) == 0);

    return p + text->len;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char                             *id, *trace, *payload;
    uint64_t                           *n;
    ngx_int_t                           rc;
    ngx_str_t                           text;
    ngx_uint_t                          count, good, fits;
    fuzz_head_t                         head;
    ngx_queues_base_segment_t           segment;
    ngx_queues_base_segment_message_t   m;

    text = fuzz_copy(data, size);
    n = head.numbers;

    fits = fuzz_head(&text, &head)
           && n[1] > 0 && n[1] <= text.len && n[2] <= 1
           && (unsigned __int128) n[3] + n[4] + n[5] + n[6] <= head.rest.len;

    rc = ngx_queues_base_segment_open(&segment, &text);

    fuzz_assert(rc == (fits ? NGX_OK : NGX_ERROR));

    if (rc != NGX_OK) {
        free(text.data);
        return 0;
    }

    good = fuzz_good(&head);

    fuzz_assert(segment.ms == n[0] && segment.left == n[1]
                && segment.sealed == n[2]
                && segment.producer.len == n[3]
                && segment.producer.data == head.rest.data);

    id = head.rest.data + n[3];
    trace = id + n[4];
    payload = trace + n[5] + n[6];

    for (count = 0; count <= n[1]; count++) {
        rc = ngx_queues_base_segment_next(&segment, &m);

        if (rc != NGX_OK) {
            break;
        }

        id = fuzz_expect(id, &m.id, count == 0, '\n');

        if (n[5]) {
            trace = fuzz_expect(trace, &m.trace, count == 0, '\n');

        } else {
            fuzz_assert(m.trace.len == 0);
        }

        fuzz_assert(m.payload.data == payload);
        payload += m.payload.len;
        fuzz_assert(payload <= text.data + text.len);
    }

    fuzz_assert(rc == (good ? NGX_DONE : NGX_ERROR));
    fuzz_assert(!good || (count == n[1] && payload == text.data + text.len));

    free(text.data);

    return 0;
}
