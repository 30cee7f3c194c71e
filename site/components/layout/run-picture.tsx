import finishedRun from '../../pictures/finished-run.json' with { type: 'json' };

const size = 480;
const margin = 16;

const { depot, routes, history, value, vehicles, stops, duration } = finishedRun;
const points = [depot, ...routes.flat()];
const range = (axis: 0 | 1) => {
  const values = points.map((point) => point[axis] ?? 0);
  return { low: Math.min(...values), high: Math.max(...values) };
};
const [xs, ys] = [range(0), range(1)];
const scale = (size - 2 * margin) / Math.max(xs.high - xs.low, ys.high - ys.low);
const height = Math.round((ys.high - ys.low) * scale) + 2 * margin;

/** Input coordinates grow upward, those of a drawing downward. */
function place([x = 0, y = 0]: number[]): string {
  return `${Math.round((x - xs.low) * scale) + margin} ${height - margin - Math.round((y - ys.low) * scale)}`;
}

/** All stops of a route in one path: a segment of no length is drawn as a dot by its round ends. */
const dots = (route: number[][]) => route.map((stop) => `M${place(stop)}h0`).join('');

/** The value of the best plan over time. The time axis is logarithmic, because most of the gain comes first. */
function History() {
  const [width, tall] = [480, 56];
  const worst = Math.max(...history.map(([, y = 0]) => y));
  const start = history[0]?.[0] ?? 0;
  const across = (seconds: number) =>
    Math.round((Math.log(seconds / start) / Math.log(duration / start)) * width);
  const down = (y: number) => Math.round(4 + ((worst - y) / (worst - value)) * (tall - 8));
  const steps = history.map(([seconds = 0, y = 0]) => `H${across(seconds)}V${down(y)}`).join('');
  return (
    <svg className="run-history" viewBox={`0 0 ${width} ${tall}`} aria-hidden="true">
      <path d={`M0 ${down(worst)}${steps}H${width}`} />
    </svg>
  );
}

const facts = [
  { name: 'Stops', text: String(stops) },
  { name: 'Vehicles', text: String(vehicles) },
  { name: 'Value', text: String(value) },
  { name: 'Search', text: `${duration.toFixed(1)} s` },
];

/** A real run of the sample app vehicle-routing: its routes, its figures, and how its value came down. */
export function RunPicture() {
  return (
    <figure className="run-picture">
      <div className="run-head">
        <code>vehicle-routing</code>
        <span className="run-status">succeeded</span>
      </div>
      <svg
        className="run-map"
        viewBox={`0 0 ${size} ${height}`}
        role="img"
        aria-label={`A map of ${stops} stops, joined by ${vehicles} routes that all start and end at one depot.`}
      >
        {routes.map((route, index) => (
          <g key={place(route[0] ?? depot)} className={`route route-${index % 5}`}>
            <path className="route-line" d={`M${[depot, ...route].map(place).join('L')}z`} />
            <path className="route-stops" d={dots(route)} />
          </g>
        ))}
        <path className="depot" d={`M${place(depot)}h0`} />
      </svg>
      <dl className="run-facts">
        {facts.map(({ name, text }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <History />
      <figcaption>
        A run of the sample app on M-n101-k10, a published instance. The line is the cost of its best plan so
        far, over time on a logarithmic scale; {value} is the best cost known.
      </figcaption>
    </figure>
  );
}
