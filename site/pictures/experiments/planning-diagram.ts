/**
 * Draws the inputs that plans with more repetitions need, for the page about planning:
 *
 *     node site/pictures/experiments/planning-diagram.ts > site/content/using-switchyard/experiments/planning.svg
 */
export interface PlannedInputs {
  repetitions: number;
  inputs: number;
}

/** The plans that the example of the page prints. */
export const PLANS: readonly PlannedInputs[] = [
  { repetitions: 1, inputs: 135 },
  { repetitions: 2, inputs: 79 },
  { repetitions: 3, inputs: 60 },
  { repetitions: 5, inputs: 45 },
  { repetitions: 10, inputs: 34 },
];

/** Inputs below which no number of repetitions is enough, as the page says. */
export const INPUTS_MIN = 23;

const width = 380;
const plot = { left: 62, right: 372, top: 26, bottom: 156 };
const BAR_WIDTH = 34;

const round = (number: number) => Math.round(number * 10) / 10;

/** Draws one bar for each plan, and a line at the number of inputs that no repetition replaces. */
export function drawPlanningDiagram(plans: readonly PlannedInputs[], inputsMin: number): string {
  const most = Math.max(...plans.map(({ inputs }) => inputs));
  const y = (inputs: number) => round(plot.bottom - (inputs / most) * (plot.bottom - plot.top));
  const apart = (plot.right - plot.left) / plans.length;
  const bars = plans.flatMap(({ repetitions, inputs }, index) => {
    const x = round(plot.left + (index + 0.5) * apart);
    return [
      `  <rect class="bar" x="${round(x - BAR_WIDTH / 2)}" y="${y(inputs)}" width="${BAR_WIDTH}" height="${round(plot.bottom - y(inputs))}" />`,
      `  <text x="${x}" y="${round(y(inputs) - 8)}">${inputs}</text>`,
      `  <text x="${x}" y="${plot.bottom + 20}">${repetitions}</text>`,
    ];
  });
  return `<svg aria-hidden="true" viewBox="0 0 ${width} 204">
${bars.join('\n')}
  <path class="rail" d="M${plot.left} ${plot.bottom}H${plot.right}" />
  <path class="route" d="M${plot.left} ${y(inputsMin)}H${plot.right}" />
  <text x="30" y="${round(y(inputsMin) + 4)}">${inputsMin}</text>
  <text x="30" y="${plot.top + 4}">inputs</text>
  <text x="${(plot.left + plot.right) / 2}" y="${plot.bottom + 44}">repetitions of each input</text>
</svg>`;
}

if (import.meta.main) console.log(drawPlanningDiagram(PLANS, INPUTS_MIN));
