/** From arguments and the text of the input to a search that is ready to run. Throws InputError. */
import { parseInput } from './input.ts';
import { buildModel, type Model } from './model.ts';
import { type Options, readOptions, settingsOf } from './options.ts';
import { Search } from './search.ts';

export type Prepared = { options: Options; model: Model; search: Search };

/** `now` gives seconds from any fixed point; the clock of the search starts at the call. */
export function prepare(args: readonly string[], text: string, now: () => number): Prepared {
  const options = readOptions(args);
  const model = buildModel(parseInput(text));
  return { options, model, search: new Search(model, settingsOf(options), now) };
}
