
/* The command line: words that name a command, its arguments, flags anywhere. */

#include "queuectl.h"
#include "queuectl_out.h"
#include "queuectl_suggest.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>


static queuectl_exit_e queuectl_args_word(queuectl_t *q, char *word);
static queuectl_exit_e queuectl_args_long(queuectl_t *q, char *flag,
    char *next, int *taken);
static queuectl_exit_e queuectl_args_letters(queuectl_t *q, char *letters,
    char *next, int *taken);
static queuectl_exit_e queuectl_args_give(queuectl_t *q,
    const queuectl_flag_t *flag, const char *text);
static const queuectl_flag_t *queuectl_args_find(queuectl_t *q,
    const char *name, size_t len, char letter);
static queuectl_exit_e queuectl_args_unknown(queuectl_t *q, const char *flag);
static queuectl_exit_e queuectl_args_check(queuectl_t *q);
static queuectl_given_t *queuectl_args_last(queuectl_t *q, const char *name);


queuectl_exit_e
queuectl_args_parse(queuectl_t *q, int argc, char **argv)
{
    int              i, taken, words;
    char            *next;
    queuectl_exit_e  rc;

    q->arguments = queuectl_alloc((argc + 1) * sizeof(char *));
    words = 0;

    for (i = 1; i < argc; i++) {
        next = i + 1 < argc ? argv[i + 1] : NULL;
        taken = 0;

        if (words || argv[i][0] != '-' || argv[i][1] == '\0') {
            rc = queuectl_args_word(q, argv[i]);

        } else if (strcmp(argv[i], "--") == 0) {
            words = 1;
            continue;

        } else if (argv[i][1] == '-') {
            rc = queuectl_args_long(q, argv[i] + 2, next, &taken);

        } else {
            rc = queuectl_args_letters(q, argv[i] + 1, next, &taken);
        }

        if (rc != QUEUECTL_OK) {
            return rc;
        }

        i += taken;
    }

    return queuectl_args_check(q);
}


static queuectl_exit_e
queuectl_args_word(queuectl_t *q, char *word)
{
    int                        i, ours;
    queuectl_suggest_t         s;
    const queuectl_command_t  *c;

    if (q->command) {
        q->arguments[q->narguments++] = word;
        return QUEUECTL_OK;
    }

    if (q->group == NULL && strcmp(word, "help") == 0) {
        q->help = 1;
        return QUEUECTL_OK;
    }

    memset(&s, 0, sizeof(queuectl_suggest_t));
    s.word = word;

    for (i = 0; queuectl_commands[i]; i++) {
        for (c = queuectl_commands[i]; c->name; c++) {

            if (q->group == NULL && c->group) {
                if (strcmp(c->group, word) == 0) {
                    q->group = c->group;
                    return QUEUECTL_OK;
                }

                queuectl_suggest(&s, c->group);
            }

            ours = q->group ? c->group && strcmp(c->group, q->group) == 0
                   : c->group == NULL;

            if (ours && strcmp(c->name, word) == 0) {
                q->command = c;
                return QUEUECTL_OK;
            }

            if (ours) {
                queuectl_suggest(&s, c->name);
            }
        }
    }

    return queuectl_usage(q, "there is no command \"%s%s%s\"%s%s%s",
                          q->group ? q->group : "", q->group ? " " : "", word,
                          s.best ? ". Is it \"" : "", s.best ? s.best : "",
                          s.best ? "\"?" : "");
}


static const queuectl_flag_t *
queuectl_args_find(queuectl_t *q, const char *name, size_t len, char letter)
{
    int                     i;
    const queuectl_flag_t  *f, *tables[2];

    tables[0] = q->command ? q->command->flags : NULL;
    tables[1] = queuectl_global_flags;

    for (i = 0; i < 2; i++) {
        for (f = tables[i]; f && f->name; f++) {

            if (name ? strlen(f->name) == len && memcmp(f->name, name, len) == 0
                     : f->letter == letter)
            {
                return f;
            }
        }
    }

    return NULL;
}


static queuectl_exit_e
queuectl_args_unknown(queuectl_t *q, const char *flag)
{
    int                     i;
    queuectl_suggest_t      s;
    const queuectl_flag_t  *f, *tables[2];

    tables[0] = q->command ? q->command->flags : NULL;
    tables[1] = queuectl_global_flags;

    memset(&s, 0, sizeof(queuectl_suggest_t));
    s.word = flag + strspn(flag, "-");

    for (i = 0; i < 2; i++) {
        for (f = tables[i]; f && f->name; f++) {
            queuectl_suggest(&s, f->name);
        }
    }

    return queuectl_usage(q, "there is no flag %s%s%s%s%s", flag,
                          s.best ? ". Is it --" : "", s.best ? s.best : "",
                          s.best ? "?" : "",
                          q->command == NULL
                          ? " here: flags of a command come after it" : "");
}


static queuectl_exit_e
queuectl_args_long(queuectl_t *q, char *flag, char *next, int *taken)
{
    char                   *value, whole[80];
    size_t                  len;
    const queuectl_flag_t  *f;

    value = strchr(flag, '=');
    len = value ? (size_t) (value - flag) : strlen(flag);

    f = queuectl_args_find(q, flag, len, '\0');

    if (f == NULL) {
        snprintf(whole, sizeof(whole), "--%.*s", (int) len, flag);
        return queuectl_args_unknown(q, whole);
    }

    if (f->kind == QUEUECTL_SWITCH) {
        if (value) {
            return queuectl_usage(q, "--%s takes no value", f->name);
        }

        return queuectl_args_give(q, f, "");
    }

    if (value) {
        return queuectl_args_give(q, f, value + 1);
    }

    *taken = 1;

    return queuectl_args_give(q, f, next);
}


static queuectl_exit_e
queuectl_args_letters(queuectl_t *q, char *letters, char *next, int *taken)
{
    char                    whole[3];
    queuectl_exit_e         rc;
    const queuectl_flag_t  *f;

    for ( /* void */ ; *letters; letters++) {
        f = queuectl_args_find(q, NULL, 0, *letters);

        if (f == NULL) {
            whole[0] = '-';
            whole[1] = *letters;
            whole[2] = '\0';
            return queuectl_args_unknown(q, whole);
        }

        if (f->kind == QUEUECTL_SWITCH) {
            rc = queuectl_args_give(q, f, "");

            if (rc != QUEUECTL_OK) {
                return rc;
            }

            continue;
        }

        if (letters[1]) {
            return queuectl_args_give(q, f, letters + 1);
        }

        *taken = 1;

        return queuectl_args_give(q, f, next);
    }

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_args_give(queuectl_t *q, const queuectl_flag_t *flag,
    const char *text)
{
    queuectl_given_t  *given;

    if (text == NULL) {
        return queuectl_usage(q, "--%s needs a value: --%s %s", flag->name,
                              flag->name, flag->value);
    }

    q->given = queuectl_grow(q->given, q->ngiven + 1,
                             sizeof(queuectl_given_t));
    given = &q->given[q->ngiven];

    given->flag = flag;
    given->text = text;
    given->number = 0;

    if (flag->kind > QUEUECTL_TEXT
        && !queuectl_quantity(flag->kind, text, &given->number))
    {
        return queuectl_usage(q, "--%s %s: %s", flag->name, text,
            flag->kind == QUEUECTL_SECONDS
            ? "a time is such as 90, 90s, 5m, 4h or 14d"
            : flag->kind == QUEUECTL_BYTES
            ? "a size is such as 65536, 64k or 1m" : "that is no whole number");
    }

    q->ngiven++;

    return QUEUECTL_OK;
}


int
queuectl_quantity(queuectl_kind_e kind, const char *text, long long *number)
{
    char        *end;
    const char  *unit;
    long long    times;

    static const char       seconds[] = "smhd";
    static const long long  in_seconds[] = { 1, 60, 3600, 86400 };
    static const char       bytes[] = "km";
    static const long long  in_bytes[] = { 1024, 1048576 };

    if (!isdigit((unsigned char) text[0])) {
        return 0;
    }

    errno = 0;
    *number = strtoll(text, &end, 10);
    times = 1;

    if (errno) {
        return 0;
    }

    if (*end && kind == QUEUECTL_SECONDS) {
        unit = strchr(seconds, *end);
        times = unit ? in_seconds[unit - seconds] : 0;
        end++;

    } else if (*end && kind == QUEUECTL_BYTES) {
        unit = strchr(bytes, tolower((unsigned char) *end));
        times = unit ? in_bytes[unit - bytes] : 0;
        end++;
    }

    if (*end || times == 0 || *number > 1000000000000LL / times) {
        return 0;
    }

    *number *= times;

    return 1;
}


static queuectl_exit_e
queuectl_args_check(queuectl_t *q)
{
    int                        i;
    const queuectl_command_t  *c;

    c = q->command;

    if (queuectl_given(q, "help")) {
        q->help = 1;
    }

    if (q->help || c == NULL) {
        return QUEUECTL_OK;
    }

    if (q->narguments < c->least) {
        return queuectl_usage(q, "%s is missing: queuectl %s%s%s %s",
                              q->narguments ? "an argument" : c->arguments,
                              c->group ? c->group : "", c->group ? " " : "",
                              c->name, c->arguments);
    }

    if (c->most >= 0 && q->narguments > c->most) {
        return queuectl_usage(q, "there is an argument too many: %s",
                              q->arguments[c->most]);
    }

    for (i = 0; i < c->least; i++) {
        if (q->arguments[i][0] == '\0') {
            return queuectl_usage(q, "an argument is empty: %s", c->arguments);
        }
    }

    return QUEUECTL_OK;
}


/* the last one of a name counts */

static queuectl_given_t *
queuectl_args_last(queuectl_t *q, const char *name)
{
    size_t  i;

    for (i = q->ngiven; i > 0; i--) {
        if (strcmp(q->given[i - 1].flag->name, name) == 0) {
            return &q->given[i - 1];
        }
    }

    return NULL;
}


int
queuectl_given(queuectl_t *q, const char *name)
{
    return queuectl_args_last(q, name) != NULL;
}


const char *
queuectl_text(queuectl_t *q, const char *name)
{
    queuectl_given_t  *given;

    given = queuectl_args_last(q, name);

    return given ? given->text : NULL;
}


long long
queuectl_number(queuectl_t *q, const char *name, long long otherwise)
{
    queuectl_given_t  *given;

    given = queuectl_args_last(q, name);

    return given ? given->number : otherwise;
}


queuectl_exit_e
queuectl_usage(queuectl_t *q, const char *format, ...)
{
    int      n;
    char    *text;
    va_list  args;

    va_start(args, format);
    n = vasprintf(&text, format, args);
    va_end(args);

    if (n < 0) {
        return QUEUECTL_FAILED;
    }

    queuectl_error("%s\nSee: queuectl %s%s%s%s--help", text,
                   q->group ? q->group : "", q->group ? " " : "",
                   q->command ? q->command->name : "", q->command ? " " : "");
    free(text);

    return QUEUECTL_USAGE;
}
