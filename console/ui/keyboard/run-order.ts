/** The order of the runs in the table that the person saw last. The page of a run moves along it. */

interface RunOrder {
  application: string;
  ids: readonly string[];
}

/** It lives with the page: a reload forgets it, and the keys then follow the time of creation. */
let lastOrder: RunOrder = { application: '', ids: [] };

/** Stores the order of the rows in a table of runs. */
export function storeRunOrder(application: string, ids: readonly string[]): void {
  lastOrder = { application, ids };
}

/** Returns the rows of the last table, or undefined if the run was not in it. */
export function getRunOrder(application: string, run: string): readonly string[] | undefined {
  return lastOrder.application === application && lastOrder.ids.includes(run) ? lastOrder.ids : undefined;
}
