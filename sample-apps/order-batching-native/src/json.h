/* A small JSON reader: the whole text becomes a tree, every value keeps the piece of text that it came from. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>
#include <stdio.h>

typedef enum { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonKind;

typedef struct Json {
  JsonKind kind;
  double number;
  /* UTF-8, ended by a zero byte; never holds one inside. */
  char *text;
  /* Elements of an array, or members of an object in the order of the text; keys only for an object. */
  struct Json **items;
  char **keys;
  size_t count;
  const char *source;
  size_t source_length;
} Json;

/* Parses the text, which must end with a zero byte and stay alive as long as the tree. Returns NULL when it is not
   JSON; `error` then holds what is wrong and at which byte. */
Json *json_parse(const char *text, size_t length, char *error, size_t error_size);

/* The member of that name, or NULL; the last one when a name occurs twice. */
const Json *json_member(const Json *object, const char *name);

/* Writes a string with its quotes. */
void json_write_text(FILE *out, const char *text);

/* Writes a finite number so that reading it back gives the same to ten digits. */
void json_write_number(FILE *out, double number);

/* malloc and realloc that end the program with a sentence when there is no memory. */
void *must_allocate(size_t size);
void *must_reallocate(void *block, size_t size);

#endif
