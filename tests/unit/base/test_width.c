/* Columns of a terminal: what is padded and cut by them stays whole and in line, whatever is written there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"
#include "base/width.h"
#include "report/table.h"

int wcwidth(wchar_t c);

static const struct {
    const char *text;
    size_t width;
} cases[] = {
    {"", 0},
    {"4096x4096", 9},
    {"caf\xc3\xa9", 4},
    {"cafe\xcc\x81", 4},                         /* an accent of its own */
    {"\xe5\xbd\xa2\xe7\x8a\xb6", 4},             /* two Chinese characters */
    {"\xf0\x9f\x9a\x80x", 3},                    /* a rocket */
    {"\xef\xbd\xb1", 1},                         /* halfwidth katakana */
    {"\xe2\x9d\xa4\xef\xb8\x8f", 1},             /* a heart, and which form of it */
    {"a\xffz", 3},                               /* a byte that is no part of a character */
    {"\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", 2}, /* one Korean syllable of three letters */
    {"\xd7\xa9\xd6\xb8\xd7\x81", 1},             /* Hebrew with points */
};

static void texts_have_their_width(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (width_of(cases[i].text) != cases[i].width)
            fail_msg("\"%s\": %zu columns", cases[i].text, width_of(cases[i].text));
}

static void a_cut_keeps_characters_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t columns = 0; columns < 12; columns++) {
            struct text out = {0};
            size_t fits = width_fit(cases[i].text, columns);
            text_add_bytes(&out, "", 0);
            width_add_cut(&out, cases[i].text, columns);
            assert_true(width_of(out.bytes) <= columns);
            assert_true(cases[i].width > columns || strcmp(out.bytes, cases[i].text) == 0);
            assert_true(cases[i].width <= columns || columns == 0 || strstr(out.bytes, "\xe2\x80\xa6"));
            /* No mark loses what it stands on, no character its tail. */
            const char *rest = cases[i].text + fits;
            assert_true(!*rest || (*rest & 0xc0) != 0x80);
            assert_true(!*rest || width_of(rest) > 0);
            text_free(&out);
        }
}

static void blanks_fill_up(void **state)
{
    struct text out = {0};
    (void)state;
    width_add_padded(&out, "\xe5\xbd\xa2", 4);
    width_add_padded(&out, "|toolong", 3);
    assert_string_equal(out.bytes, "\xe5\xbd\xa2  |toolong");
    text_free(&out);
}

static void columns_of_a_table_stand_in_line(void **state)
{
    struct table s = {0};
    struct text out = {0};
    (void)state;
    table_column(&s, "label", "label", true);
    table_column(&s, "time", "time", false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        table_add(&s, NAN, "%s", cases[i].text);
        table_add(&s, 1, "1 \xc2\xb5s");
    }
    table_print_text(&out, &s, false);
    char *rest = out.bytes;
    size_t wanted = table_total_width(&s);
    for (char *line; (line = strsep(&rest, "\n")) && line[0];)
        assert_int_equal(width_of(line), wanted);
    text_free(&out);
    table_free(&s);
}

/* Where the C library knows a character, it agrees; versions of Unicode differ at the margin. */
static void the_c_library_agrees(void **state)
{
    size_t known = 0, differ = 0;
    (void)state;
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    for (uint32_t code = 0xa0; code < 0x20000; code++) {
        char text[5] = {0};
        int theirs = wcwidth((wchar_t)code);
        if (theirs < 0 || (code >= 0xd800 && code < 0xe000))
            continue;
        mbstate_t shift = {0};
        wcrtomb(text, (wchar_t)code, &shift);
        known++;
        differ += width_of(text) != (size_t)theirs;
    }
    setlocale(LC_CTYPE, "C");
    assert_true(known > 50000);
    if (differ > known / 200)
        fail_msg("%zu of %zu characters differ from wcwidth", differ, known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_their_width), cmocka_unit_test(a_cut_keeps_characters_whole),
        cmocka_unit_test(blanks_fill_up),         cmocka_unit_test(columns_of_a_table_stand_in_line),
        cmocka_unit_test(the_c_library_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
