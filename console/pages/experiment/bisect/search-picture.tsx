import type { BisectExperiment } from '@switchyard/contract/experiments/bisect/bisect-experiments.ts';
import { formatChange } from '@switchyard/contract/experiments/presentation/effects.ts';
import { type Format, formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import {
  buildScale,
  findExtent,
  listTicks,
  type Scale,
  truncateLabel,
} from '@switchyard/contract/presentation/scales.ts';
import { VerticalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import pictures from '../evidence/pictures.module.css';

const CHART = 190;
const BARS = 56;
const MARGIN = { top: 12, right: 16, left: 72, bottom: 46 };
const HEIGHT = MARGIN.top + CHART + BARS + MARGIN.bottom;
const TICKS = 4;
const LABEL_WIDTH_MIN = 46;
/** Smaller bars have their number only on hover. */
const PROBABILITY_NAMED_MIN = 0.1;

type Search = Pick<
  BisectExperiment,
  'version_ids' | 'steps' | 'posterior' | 'difference' | 'good_version_id'
>;
type Step = Search['steps'][number];

const TONES = { worse: pictures.bad, not_worse: pictures.good, skipped: pictures.open };

/** The versions from the good to the bad one: how much worse each tested one is, and where the change may be. */
export function SearchPicture({ search, label }: { search: Search; label: string }) {
  const steps = new Map(search.steps.map((step) => [step.version_id, step]));
  const probabilities = new Map(search.posterior.map((one) => [one.version_id, one.probability]));
  const table = {
    columns: [
      'version',
      'decision',
      'effect',
      'low',
      'high',
      'rounds',
      'lost rounds',
      'e-value',
      'probability',
    ],
    rows: search.version_ids.map((version) => {
      const step = steps.get(version);
      return {
        version,
        decision: step?.decision?.replace('_', ' ') ?? null,
        effect: step?.effect ?? null,
        low: step?.interval?.low ?? null,
        high: step?.interval?.high ?? null,
        rounds: step?.number_of_rounds ?? null,
        'lost rounds': step?.number_of_lost_rounds ?? null,
        'e-value': step?.e_value ?? null,
        probability: probabilities.get(version) ?? null,
      };
    }),
  };
  return (
    <Figure
      title="Search over the versions"
      isMain
      caption={`How much worse each tested version is than ${search.good_version_id} in ${label}, with its confidence sequence. The dashed line is the difference that matters. The bars are the probability that the version made the indicator worse.`}
      table={table}
      height={HEIGHT}
    >
      {(width) => <SearchSteps search={search} width={width} probabilities={probabilities} />}
    </Figure>
  );
}

interface SearchStepsProps {
  search: Search;
  width: number;
  probabilities: ReadonlyMap<string, number>;
}

function SearchSteps({ search, width, probabilities }: SearchStepsProps) {
  const { version_ids, steps, difference } = search;
  const measure = difference.type;
  const [low, high] = findExtent([
    0,
    difference.value,
    ...steps.flatMap(({ effect, interval }) =>
      [effect, interval?.low, interval?.high].filter((one) => typeof one === 'number'),
    ),
  ]);
  const padding = (high - low || 1) * 0.05;
  const toY = buildScale([low - padding, high + padding], [MARGIN.top + CHART, MARGIN.top]);
  const toX = buildScale([-0.5, version_ids.length - 0.5], [MARGIN.left, width - MARGIN.right]);
  const across = [MARGIN.left, width - MARGIN.right] as const;
  const format: Format = (value, moreDigits) => formatChange(measure, value, moreDigits);
  return (
    <Picture
      width={width}
      height={HEIGHT}
      label={`Search over ${version_ids.length} versions: ${steps.map((step) => describeStep(step, format)).join('. ')}`}
    >
      <VerticalAxis
        ticks={listTicks(low - padding, high + padding, TICKS)}
        scale={toY}
        format={format}
        across={across}
      />
      <line className={figure.zero} x1={across[0]} x2={across[1]} y1={toY(0)} y2={toY(0)} />
      <line
        className={`${pictures.curve} ${pictures.control} ${pictures.dashed}`}
        x1={across[0]}
        x2={across[1]}
        y1={toY(difference.value)}
        y2={toY(difference.value)}
      />
      {steps.map((step) => (
        <StepMark
          key={step.version_id}
          step={step}
          x={toX(version_ids.indexOf(step.version_id))}
          toY={toY}
          text={describeStep(step, format)}
        />
      ))}
      <text className={`${figure.note} ${figure.end}`} x={MARGIN.left - 8} y={MARGIN.top + CHART + BARS}>
        probability
      </text>
      <VersionBars search={search} toX={toX} probabilities={probabilities} />
    </Picture>
  );
}

function describeStep({ version_id, decision, effect }: Step, format: (value: number) => string): string {
  const words = decision?.replace('_', ' ') ?? 'undecided';
  return `${version_id}: ${words}${effect === null ? '' : `, ${format(effect)}`}`;
}

function StepMark({ step, x, toY, text }: { step: Step; x: number; toY: Scale; text: string }) {
  const { effect, interval, decision } = step;
  return (
    <g className={decision === null ? pictures.candidate : TONES[decision]}>
      <title>{text}</title>
      {interval && (
        <line className={pictures.interval} x1={x} x2={x} y1={toY(interval.low)} y2={toY(interval.high)} />
      )}
      {effect !== null && <circle className={pictures.ring} cx={x} cy={toY(effect)} r="6" />}
    </g>
  );
}

interface VersionBarsProps {
  search: Search;
  toX: Scale;
  probabilities: ReadonlyMap<string, number>;
}

/** The probability of each version as a bar, above its name. Names are left out where they would overlap. */
function VersionBars({ search: { version_ids }, toX, probabilities }: VersionBarsProps) {
  const step = toX(1) - toX(0);
  const bottom = MARGIN.top + CHART + BARS;
  const every = Math.max(1, Math.ceil(LABEL_WIDTH_MIN / step));
  return version_ids.map((version, index) => {
    const probability = probabilities.get(version) ?? 0;
    const height = probability * (BARS - 16);
    return (
      <g key={version} className={pictures.candidate}>
        <title>{`${version}: ${formatPercent(probability)}`}</title>
        <rect
          className={pictures.solid}
          x={toX(index) - Math.min(step * 0.35, 16)}
          y={bottom - height}
          width={Math.min(step * 0.7, 32)}
          height={height}
        />
        <line
          className={figure.grid}
          x1={toX(index) - step / 2}
          x2={toX(index) + step / 2}
          y1={bottom}
          y2={bottom}
        />
        {probability >= PROBABILITY_NAMED_MIN && (
          <text className={`${figure.note} ${figure.middle}`} x={toX(index)} y={bottom - height - 4}>
            {formatPercent(probability)}
          </text>
        )}
        {index % every === 0 && (
          <text className={`${figure.label} ${figure.middle}`} x={toX(index)} y={bottom + 18}>
            {truncateLabel(version, step * every - 6)}
          </text>
        )}
      </g>
    );
  });
}
