/** Every example of the pages below "Using Switchyard", as their reader runs them. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import { listStories, PAGE_MS, StoryTeller } from '../testing/page-stories.ts';

let teller: StoryTeller;
beforeAll(async () => {
  teller = await StoryTeller.start();
});
afterAll(() => teller.close());

describe('the examples of', () => {
  test.each(listStories('/docs/using-switchyard/', true))(
    '%s',
    (_name, route, choice) => teller.tell(route, choice),
    PAGE_MS + 10_000,
  );
});
