/** Names the runs of a comparison. Pure. */

/** Returns the name of each run, with its id where another run has the same name. */
export function nameRuns(runs: readonly { id: string; name: string }[]): string[] {
  return runs.map(({ id, name }) => {
    if (name === '') return id;
    return runs.some((run) => run.id !== id && run.name === name) ? `${name} · ${id}` : name;
  });
}
