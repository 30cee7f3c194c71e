/** Lists: the query that every list accepts, and the shapes of its response. */
import Type, { type TSchema } from 'typebox';
import { PAGE_ITEMS_MAX } from '../limits.ts';
import { timestampSchema } from './field-schemas.ts';

export const PageQuery = {
  pagereturn: Type.Optional(
    Type.Boolean({ description: 'true: return pages of the form `{items, next_page_token}`.' }),
  ),
  pagetoken: Type.Optional(Type.String({ description: '`next_page_token` of the previous page.' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_ITEMS_MAX,
      description: `Items per page, at most ${PAGE_ITEMS_MAX}. The default is ${PAGE_ITEMS_MAX}.`,
    }),
  ),
};

export const WindowQuery = {
  start: Type.Optional(
    timestampSchema('Only items created at or after this time; the default is one year before `end`'),
  ),
  end: Type.Optional(timestampSchema('Only items created before this time; the default is now')),
};

const NextPageToken = Type.Optional(
  Type.String({ description: 'Send it as `pagetoken` to get the next page. Absent on the last page.' }),
);

/** Returns the schema of a list response: an array, or with `pagereturn=true` an object. */
export function pageOrArray<T extends TSchema>(item: T) {
  return Type.Union([Type.Array(item), itemsPage(item)]);
}

/** Returns the schema of a list that always responds with an object, paged or not. */
export function itemsPage<T extends TSchema>(item: T) {
  return Type.Object({ items: Type.Array(item), next_page_token: NextPageToken });
}

/** Returns the schema of a list of runs: always `runs`, and `items` too for callers that page. */
export function runsPage<T extends TSchema>(item: T) {
  return Type.Object({
    runs: Type.Array(item),
    items: Type.Optional(Type.Array(item)),
    next_page_token: NextPageToken,
  });
}
