/** Facts: the labelled texts by which the command line and the console show the values of one thing. */

/** A value of a thing in words. */
export interface Fact<Item> {
  /** The label in the console, such as `Peak memory`; the command line prints it in lower case. */
  readonly label: string;
  /** Returns the value in words; undefined where the thing has none. */
  format(item: Item): string | undefined;
}

/** Returns the labels and texts of the facts that the thing has. */
export function listFacts<Item>(facts: readonly Fact<Item>[], item: Item): [label: string, text: string][] {
  return facts.flatMap(({ label, format }) => {
    const text = format(item);
    return text === undefined || text === '' ? [] : [[label, text] satisfies [string, string]];
  });
}
