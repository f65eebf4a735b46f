
/*
 * Of targets that are run twice over each input: with all the memory that they
 * want, and with one allocation that fails, which FUZZ_SHORTAGES says how far
 * to look for.  The target is fuzz_run(), which sets fuzz_shortage.
 */

static ngx_uint_t  fuzz_scarce;              /* which one fails, 0: none */


static void fuzz_run(const uint8_t *data, size_t size);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || data[0] == '\0') {
        return 0;
    }

    fuzz_scarce = 0;
    fuzz_run(data, size);

    fuzz_scarce = 1 + size % FUZZ_SHORTAGES;
    fuzz_run(data, size);

    return 0;
}
