#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Deeper nesting than any input of this program has; it keeps hostile text from exhausting the stack. */
enum { DEPTH_MAXIMUM = 64 };

typedef struct {
  const char *start;
  const char *at;
  const char *end;
  const char *problem;
} Reader;

void *must_reallocate(void *block, size_t size) {
  void *moved = realloc(block, size ? size : 1);
  if (!moved) {
    fprintf(stderr, "the input needs more memory than there is: it must be smaller\n");
    exit(1);
  }
  return moved;
}

void *must_allocate(size_t size) { return must_reallocate(NULL, size); }

static void *fail(Reader *reader, const char *problem) {
  if (!reader->problem) reader->problem = problem;
  return NULL;
}

static void skip_space(Reader *reader) {
  while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) && *reader->at) reader->at++;
}

static int peek(const Reader *reader) { return reader->at < reader->end ? (unsigned char)*reader->at : -1; }

static int accept(Reader *reader, char wanted) {
  if (peek(reader) != (unsigned char)wanted) return 0;
  reader->at++;
  return 1;
}

static int digits(Reader *reader) {
  int count = 0;
  while (peek(reader) >= '0' && peek(reader) <= '9') {
    reader->at++;
    count++;
  }
  return count;
}

/* strtod accepts more than JSON does (hexadecimal, infinities, leading plus), so the grammar is walked first. */
static int read_number(Reader *reader, double *number) {
  const char *start = reader->at;
  accept(reader, '-');
  if (!accept(reader, '0') && digits(reader) == 0) return 0;
  if (accept(reader, '.') && digits(reader) == 0) return 0;
  if (accept(reader, 'e') || accept(reader, 'E')) {
    if (!accept(reader, '+')) accept(reader, '-');
    if (digits(reader) == 0) return 0;
  }
  *number = strtod(start, NULL);
  return isfinite(*number);
}

static int read_hex4(Reader *reader, unsigned *code) {
  *code = 0;
  for (int digit = 0; digit < 4; digit++) {
    int c = peek(reader);
    unsigned value;
    if (c >= '0' && c <= '9') value = (unsigned)c - '0';
    else if (c >= 'a' && c <= 'f') value = (unsigned)c - 'a' + 10;
    else if (c >= 'A' && c <= 'F') value = (unsigned)c - 'A' + 10;
    else return 0;
    *code = *code * 16 + value;
    reader->at++;
  }
  return 1;
}

static char *put_utf8(char *out, unsigned code) {
  if (code < 0x80) {
    *out++ = (char)code;
  } else if (code < 0x800) {
    *out++ = (char)(0xC0 | code >> 6);
    *out++ = (char)(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out++ = (char)(0xE0 | code >> 12);
    *out++ = (char)(0x80 | (code >> 6 & 0x3F));
    *out++ = (char)(0x80 | (code & 0x3F));
  } else {
    *out++ = (char)(0xF0 | code >> 18);
    *out++ = (char)(0x80 | (code >> 12 & 0x3F));
    *out++ = (char)(0x80 | (code >> 6 & 0x3F));
    *out++ = (char)(0x80 | (code & 0x3F));
  }
  return out;
}

/* Length of the well-formed UTF-8 sequence at `at`, or 0. Overlong forms, surrogates and codes beyond Unicode are not. */
static int utf8_length(const char *at, const char *end) {
  const unsigned char *byte = (const unsigned char *)at;
  int length = byte[0] < 0x80 ? 1 : byte[0] >= 0xC2 && byte[0] < 0xE0 ? 2 : (byte[0] & 0xF0) == 0xE0 ? 3
             : byte[0] >= 0xF0 && byte[0] < 0xF5 ? 4 : 0;
  if (length == 0 || end - at < length) return 0;
  for (int i = 1; i < length; i++) {
    if ((byte[i] & 0xC0) != 0x80) return 0;
  }
  if (byte[0] == 0xE0 && byte[1] < 0xA0) return 0;
  if (byte[0] == 0xED && byte[1] > 0x9F) return 0;
  if (byte[0] == 0xF0 && byte[1] < 0x90) return 0;
  if (byte[0] == 0xF4 && byte[1] > 0x8F) return 0;
  return length;
}

/* Reads the part of an escape after the backslash and returns where the text goes on, or NULL. */
static char *read_escape(Reader *reader, char *out) {
  static const char names[] = "\"\\/bfnrt";
  static const char meanings[] = "\"\\/\b\f\n\r\t";
  int c = peek(reader);
  const char *name = c > 0 ? strchr(names, c) : NULL;
  if (name) {
    reader->at++;
    *out = meanings[name - names];
    return out + 1;
  }
  unsigned code, low;
  if (!accept(reader, 'u') || !read_hex4(reader, &code)) return fail(reader, "a string has an unknown escape");
  if (code >= 0xD800 && code < 0xDC00) {
    if (!accept(reader, '\\') || !accept(reader, 'u') || !read_hex4(reader, &low) || low < 0xDC00 || low > 0xDFFF)
      return fail(reader, "a string has half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000) {
    return fail(reader, "a string has half of a surrogate pair");
  }
  if (code == 0) return fail(reader, "a string holds a zero character");
  return put_utf8(out, code);
}

static char *read_text(Reader *reader) {
  if (!accept(reader, '"')) return fail(reader, "a string was expected");
  const char *close = reader->at;
  while (close < reader->end && *close != '"') close += *close == '\\' && close + 1 < reader->end ? 2 : 1;
  /* No escape is shorter than what it stands for, so the source length is room enough. */
  char *text = must_allocate((size_t)(close - reader->at) + 1);
  char *out = text;
  while (out) {
    int c = peek(reader);
    if (c == '"') {
      reader->at++;
      *out = 0;
      return text;
    }
    if (c < 0x20) {
      out = fail(reader, c < 0 ? "a string does not end" : "a string holds a control character");
    } else if (c == '\\') {
      reader->at++;
      out = read_escape(reader, out);
    } else {
      int length = utf8_length(reader->at, reader->end);
      if (length == 0) {
        out = fail(reader, "a string is not UTF-8");
      } else {
        memcpy(out, reader->at, (size_t)length);
        out += length;
        reader->at += length;
      }
    }
  }
  free(text);
  return NULL;
}

static int accept_word(Reader *reader, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0) return 0;
  reader->at += length;
  return 1;
}

static Json *read_value(Reader *reader, int depth);

/* Makes room for one more element; capacity is the next power of two, so it need not be kept. */
static void grow(Json *value) {
  if (value->count & (value->count - 1)) return;
  size_t capacity = value->count ? value->count * 2 : 1;
  value->items = must_reallocate(value->items, capacity * sizeof *value->items);
  if (value->kind == JSON_OBJECT) value->keys = must_reallocate(value->keys, capacity * sizeof *value->keys);
}

static int read_members(Reader *reader, Json *value, int depth) {
  char close = value->kind == JSON_OBJECT ? '}' : ']';
  skip_space(reader);
  if (accept(reader, close)) return 1;
  for (;;) {
    grow(value);
    if (value->kind == JSON_OBJECT) {
      skip_space(reader);
      char *key = read_text(reader);
      if (!key) return 0;
      value->keys[value->count] = key;
      skip_space(reader);
      if (!accept(reader, ':')) return fail(reader, "a colon is missing after a name") != NULL;
    }
    Json *item = read_value(reader, depth + 1);
    if (!item) return 0;
    value->items[value->count++] = item;
    skip_space(reader);
    if (accept(reader, close)) return 1;
    if (!accept(reader, ',')) return fail(reader, "a comma or the end of a list or object is missing") != NULL;
  }
}

static Json *read_value(Reader *reader, int depth) {
  skip_space(reader);
  if (depth > DEPTH_MAXIMUM) return fail(reader, "it is nested more than 64 deep");
  Json *value = must_allocate(sizeof *value);
  memset(value, 0, sizeof *value);
  value->source = reader->at;
  int c = peek(reader), ok;
  if (c == '{' || c == '[') {
    value->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
    reader->at++;
    ok = read_members(reader, value, depth);
  } else if (c == '"') {
    value->kind = JSON_STRING;
    value->text = read_text(reader);
    ok = value->text != NULL;
  } else if (c == '-' || (c >= '0' && c <= '9')) {
    value->kind = JSON_NUMBER;
    ok = read_number(reader, &value->number);
    if (!ok) fail(reader, "a number is malformed or too large");
  } else {
    ok = 1;
    if (accept_word(reader, "true")) value->kind = JSON_TRUE;
    else if (accept_word(reader, "false")) value->kind = JSON_FALSE;
    else if (accept_word(reader, "null")) value->kind = JSON_NULL;
    else ok = fail(reader, c < 0 ? "it ends too early" : "a value was expected") != NULL;
  }
  value->source_length = (size_t)(reader->at - value->source);
  return ok ? value : NULL;
}

Json *json_parse(const char *text, size_t length, char *error, size_t error_size) {
  Reader reader = {text, text, text + length, NULL};
  Json *value = read_value(&reader, 0);
  if (value) {
    skip_space(&reader);
    if (reader.at == reader.end) return value;
    fail(&reader, "something follows the value");
  }
  snprintf(error, error_size, "%s, at byte %zu", reader.problem, (size_t)(reader.at - reader.start));
  return NULL;
}

const Json *json_member(const Json *object, const char *name) {
  for (size_t i = object->count; i-- > 0;) {
    if (strcmp(object->keys[i], name) == 0) return object->items[i];
  }
  return NULL;
}

void json_write_text(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') fprintf(out, "\\%c", c);
    else if (c < 0x20) fprintf(out, "\\u%04x", c);
    else fputc(c, out);
  }
  fputc('"', out);
}

void json_write_number(FILE *out, double number) { fprintf(out, "%.10g", number); }
