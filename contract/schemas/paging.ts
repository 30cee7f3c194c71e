/** Lists: the query every list takes and the two shapes it answers with. */
import Type, { type TSchema } from 'typebox';
import { PAGE_ITEMS_MAX } from '../limits.ts';
import { timestamp } from './field-schemas.ts';

export const PageQuery = {
  pagereturn: Type.Optional(
    Type.Boolean({ description: 'true: answer `{items, next_page_token}` and page the list.' }),
  ),
  pagetoken: Type.Optional(Type.String({ description: '`next_page_token` of the page before.' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_ITEMS_MAX,
      description: `Items per page, at most ${PAGE_ITEMS_MAX}, which a page has when nothing is said.`,
    }),
  ),
};

export const WindowQuery = {
  start: Type.Optional(
    timestamp('Only what was created at or after this time; one year before `end` when absent'),
  ),
  end: Type.Optional(timestamp('Only what was created before this time; now when absent')),
};

const NextPageToken = Type.Optional(
  Type.String({ description: 'Hand it back as `pagetoken` for the next page; absent on the last page.' }),
);

/** What a list answers: an array, or with `pagereturn=true` an object. */
export function pageOrArray<T extends TSchema>(item: T) {
  return Type.Union([Type.Array(item), itemsPage(item)]);
}

/** What younger lists answer, paged or not. */
export function itemsPage<T extends TSchema>(item: T) {
  return Type.Object({ items: Type.Array(item), next_page_token: NextPageToken });
}

/** Lists of runs answer both `runs` and, for callers that page, `items`. */
export function runsPage<T extends TSchema>(item: T) {
  return Type.Object({
    runs: Type.Array(item),
    items: Type.Optional(Type.Array(item)),
    next_page_token: NextPageToken,
  });
}
