
/*
 * Runs the fuzz target that is named over the files that are, without a fuzzer:
 * each compiler can do that.  FUZZ_TARGETS is FUZZ_TARGET(name) for all that
 * are in the program; there they are called fuzz_run_name().
 */

#include "fuzz.h"


typedef int (*fuzz_target_pt)(const uint8_t *data, size_t size);


typedef struct {
    const char      *name;
    fuzz_target_pt   run;
} fuzz_target_t;


#define FUZZ_TARGET(name)  int fuzz_run_##name(const uint8_t *data, size_t size);
FUZZ_TARGETS
#undef FUZZ_TARGET


static fuzz_target_t  fuzz_targets[] = {
#define FUZZ_TARGET(name)  { #name, fuzz_run_##name },
    FUZZ_TARGETS
#undef FUZZ_TARGET
    { NULL, NULL }
};


static void
fuzz_file(fuzz_target_t *target, const char *name)
{
    long       size;
    FILE      *file;
    u_char    *data;

    file = fopen(name, "rb");

    if (file == NULL
        || fseek(file, 0, SEEK_END) != 0
        || (size = ftell(file)) < 0
        || fseek(file, 0, SEEK_SET) != 0)
    {
        perror(name);
        exit(2);
    }

    data = fuzz_alloc(size);

    if (fread(data, 1, size, file) != (size_t) size) {
        perror(name);
        exit(2);
    }

    fclose(file);

    /* the last line that is read where it aborts */

    printf("%s\n", name);
    fflush(stdout);

    target->run(data, size);

    free(data);
}


int
main(int argc, char **argv)
{
    int             i;
    fuzz_target_t  *target;

    for (target = fuzz_targets; target->name; target++) {
        if (argc > 1 && strcmp(target->name, argv[1]) == 0) {
            break;
        }
    }

    if (target->name == NULL) {
        fprintf(stderr, "no such target\n");
        return 2;
    }

    for (i = 2; i < argc; i++) {
        fuzz_file(target, argv[i]);
    }

    return 0;
}
