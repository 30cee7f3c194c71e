import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import { createGroupNamer } from '@switchyard/contract/experiments/presentation/group-labels.ts';
import type { Racing } from '@switchyard/contract/experiments/racing.ts';
import { formatExactPercent, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { buildScale, listTicks, truncateLabel } from '@switchyard/contract/presentation/scales.ts';
import { HorizontalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import pictures from '../comparison/pictures.module.css';
import { listStandings, type Standing } from './list-standings.ts';
import { StandingTable } from './standing-table.tsx';

const ROW = 42;
const BAR = 12;
const AXIS = 30;
const TICKS_WIDTH = 90;
const MARGIN = { left: 2, right: 20 };
/** More rows than fit on a screen show no pattern; the table has all of up to 200 configurations. */
const ROWS_MAX = 40;

const TONES = {
  control: pictures.control,
  finished: pictures.good,
  running: pictures.changed,
  dropped: pictures.bad,
};

interface RaceStandingsProps {
  racing: Racing;
  compared: readonly ComparedGroups[];
}

/** How far each configuration came in the race, and which ones it dropped. */
export function RaceStandings({ racing, compared }: RaceStandingsProps) {
  const nameGroup = createGroupNamer(compared.flatMap(({ control, candidate }) => [control, candidate]));
  const standings = listStandings(compared, { inputs: racing.inputs_planned, nameGroup });
  const visible = standings.slice(0, ROWS_MAX);
  const height = visible.length * ROW + AXIS;
  const { configurations_dropped: dropped, configurations, runs_saved: saved, confidence } = racing;
  const table = {
    columns: ['configuration', 'status', 'inputs', 'dropped after', 'against', 'e-value', 'threshold'],
    rows: standings.map((one) => ({
      configuration: one.name,
      status: one.status,
      inputs: one.inputs,
      'dropped after': one.droppedAfter,
      against: one.against,
      'e-value': one.eValue,
      threshold: one.threshold,
    })),
  };
  return (
    <Figure
      title="Race"
      caption={`The race dropped ${dropped} of ${configurations} configurations by ${racing.indicator}, and saved ${formatNumber(saved)} runs. With a confidence of ${formatExactPercent(confidence)}, the best configuration stays. A bar is the inputs that count for a configuration; a cross ends one that was dropped.`}
      table={table}
      height={height}
      details={<StandingTable standings={standings} />}
    >
      {(width) => <Bars standings={visible} inputs={racing.inputs} {...{ width, height }} />}
    </Figure>
  );
}

interface BarsProps {
  standings: readonly Standing[];
  inputs: number;
  width: number;
  height: number;
}

function Bars({ standings, inputs, width, height }: BarsProps) {
  const scale = buildScale([0, inputs], [MARGIN.left, width - MARGIN.right]);
  return (
    <Picture
      width={width}
      height={height}
      label={`Race over ${inputs} inputs. ${standings.map(describeStanding).join('. ')}`}
    >
      <HorizontalAxis
        ticks={listTicks(0, inputs, width / TICKS_WIDTH).filter(Number.isInteger)}
        scale={scale}
        across={[0, standings.length * ROW]}
      />
      {standings.map((standing, index) => {
        const y = index * ROW;
        const end = scale(standing.inputs);
        const middle = y + 22 + BAR / 2;
        return (
          <g key={standing.name} className={TONES[standing.status]}>
            <title>{describeStanding(standing)}</title>
            <text className={figure.label} x={0} y={y + 15}>
              {truncateLabel(describeStanding(standing), width)}
            </text>
            <rect className={pictures.part} x={scale(0)} y={y + 22} width={end - scale(0)} height={BAR} />
            {standing.status === 'dropped' && (
              <path className={pictures.cross} d={`M${end + 4} ${middle - 5}l10 10m0 -10l-10 10`} />
            )}
          </g>
        );
      })}
    </Picture>
  );
}

/** Returns the standing in words, such as `bad: dropped after 10 inputs, worse than good`. */
function describeStanding({ name, status, inputs, against, droppedAfter }: Standing): string {
  if (status === 'dropped')
    return `${name}: dropped after ${droppedAfter ?? inputs} inputs${against === null ? '' : `, worse than ${against}`}`;
  return `${name}: ${status}, ${inputs} inputs`;
}
