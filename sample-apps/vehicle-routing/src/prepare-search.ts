/** From arguments and the text of the input to a search that is ready to run. Throws InputError. */
import { parseInput } from './input/input.ts';
import { type Options, readOptions, toSearchSettings } from './options.ts';
import { buildModel, type Model } from './search/model.ts';
import { Search } from './search/search.ts';

export type PreparedSearch = { options: Options; model: Model; search: Search };

/** `now` gives seconds from any fixed point; the clock of the search starts at the call. */
export function prepareSearch(args: readonly string[], text: string, now: () => number): PreparedSearch {
  const options = readOptions(args);
  const model = buildModel(parseInput(text));
  return { options, model, search: new Search(model, toSearchSettings(options), now) };
}
