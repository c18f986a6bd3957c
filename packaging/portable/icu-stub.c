/*
 * icu-stub.c - the seven ICU names that Debian's static libxml2 calls, so that 31 MB of ICU stay out of the binary.
 *
 * Used by: builds with -Dportable=true only. ICU serves rare encodings there; our readers take UTF-8 and nothing else
 * (base/file.h), so opening a converter may fail. ucnv.h appends ICU's version to each name, as libxml2 did.
 */
#include <unicode/ucnv.h>

U_CAPI UConverter *ucnv_open(const char *name, UErrorCode *error) {
  *error = U_FILE_ACCESS_ERROR;
  return NULL;
}

U_CAPI void ucnv_close(UConverter *converter) {}

U_CAPI void ucnv_convertEx(UConverter *to, UConverter *from, char **target, const char *target_end, const char **source,
                           const char *source_end, UChar *pivot_start, UChar **pivot_source, UChar **pivot_target,
                           const UChar *pivot_end, UBool reset, UBool flush, UErrorCode *error) {
  *error = U_UNSUPPORTED_ERROR; /* never reached: no converter opens */
}

U_CAPI void ucnv_setToUCallBack(UConverter *converter, UConverterToUCallback action, const void *context,
                                UConverterToUCallback *old_action, const void **old_context, UErrorCode *error) {}

U_CAPI void ucnv_setFromUCallBack(UConverter *converter, UConverterFromUCallback action, const void *context,
                                  UConverterFromUCallback *old_action, const void **old_context, UErrorCode *error) {}

U_CAPI void UCNV_TO_U_CALLBACK_STOP(const void *context, UConverterToUnicodeArgs *args, const char *units, int32_t length,
                                    UConverterCallbackReason reason, UErrorCode *error) {}

U_CAPI void UCNV_FROM_U_CALLBACK_STOP(const void *context, UConverterFromUnicodeArgs *args, const UChar *units,
                                      int32_t length, UChar32 code_point, UConverterCallbackReason reason,
                                      UErrorCode *error) {}
