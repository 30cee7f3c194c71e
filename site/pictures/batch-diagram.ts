/**
 * Draws the runs of a batch experiment and their comparison, for the page about it:
 *
 *     node site/pictures/batch-diagram.ts > site/content/using-switchyard/experiments/batch.svg
 */
export interface GridRun {
  input_id: string;
  instance_id: string;
  repetition: number;
}

const width = 380;
const names = 58;
const top = 52;
const row = 46;
const instanceWidth = 104;
const apart = 30;
const differences = width - 40;

const unique = (values: string[]) => [...new Set(values)];

/** Draws the grid of the runs as one SVG element: a line for each input, a station for each run. */
export function drawBatchDiagram(runs: readonly GridRun[]): string {
  const inputs = unique(runs.map((run) => run.input_id));
  const instances = unique(runs.map((run) => run.instance_id));
  const repetitions = unique(runs.map((run) => `${run.repetition}`)).length;
  const centre = (instance: string) => names + (instances.indexOf(instance) + 0.5) * instanceWidth;
  const height = top + row * inputs.length;
  const parts = instances.map((id) => `  <text x="${centre(id)}" y="18">${id}</text>`);
  parts.push(`  <text x="${differences}" y="18">difference</text>`);
  for (const [index, id] of inputs.entries()) {
    const y = top + index * row;
    parts.push(`  <text x="${names / 2}" y="${y + 4}">${id}</text>`);
    parts.push(`  <path class="rail" d="M${names + 8} ${y}H${differences}" />`);
    for (const run of runs.filter((one) => one.input_id === id)) {
      const x = centre(run.instance_id) + (run.repetition - (repetitions - 1) / 2) * apart;
      parts.push(`  <circle class="station" cx="${x}" cy="${y}" r="6" />`);
    }
    parts.push(`  <circle class="open" cx="${differences}" cy="${y}" r="8" />`);
  }
  return `<svg aria-hidden="true" viewBox="0 0 ${width} ${height}">\n${parts.join('\n')}\n</svg>`;
}

const pictured = { inputs: ['day 1', 'day 2', 'day 3'], instances: ['control', 'candidate'], repetitions: 2 };

/** Lists the runs of three inputs on two instances, twice each. */
export function listExampleRuns(): GridRun[] {
  return pictured.inputs.flatMap((input_id) =>
    pictured.instances.flatMap((instance_id) =>
      Array.from({ length: pictured.repetitions }, (_, repetition) => ({
        input_id,
        instance_id,
        repetition,
      })),
    ),
  );
}

if (import.meta.main) console.log(drawBatchDiagram(listExampleRuns()));
