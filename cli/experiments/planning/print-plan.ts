/** Prints plans of experiments. */

import { ApiError, toBody } from '@switchyard/contract/client.ts';
import type { ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { ALL_CANDIDATES } from '@switchyard/contract/experiments/all-candidates.ts';
import type { ExperimentPlan } from '@switchyard/contract/experiments/experiment-plans.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Session } from '../../session/session.ts';
import { cleanText } from '../../terminal/clean-text.ts';
import { formatTable } from '../../terminal/table.ts';
import type { RequestFields } from '../create-experiment.ts';
import { readTarget } from '../find-experiment.ts';
import {
  type ComparedSize,
  describeDetectable,
  describeRuns,
  describeTime,
  type ExperimentSize,
  findEarlierExperiment,
  sizeExperiment,
} from './size-experiment.ts';

/** The difference of a plan that is printed for its smallest detectable difference alone. */
const ANY_DIFFERENCE = { type: 'relative', value: 0.05 } as const;

/** Prints the runs, the time and the smallest detectable difference of an experiment that does not exist yet. */
export async function printSize(
  session: Session,
  target: { application: string; type: ExperimentType },
  request: RequestFields,
): Promise<void> {
  const { client, application } = readTarget(session);
  const size = await sizeExperiment(client, target, request);
  const time = await describeTime(client, { application, signal: session.terminal.signal }, size);
  const { plan, refusal } = size.compared ? await planFrom(session, size.compared) : {};
  const lines = [
    describeRuns(size),
    time,
    ...describeEvidence(size, { plan, refusal }),
    'Nothing was created.',
  ];
  session.output.print({
    json: { request, runs: size.runs, time, plan: size.search ?? plan ?? null },
    text: () => `${lines.map(cleanText).join('\n')}\n`,
  });
}

/** Describes what the runs can show. A search has its difference in the request, and runs until it is decided. */
function describeEvidence({ search }: ExperimentSize, { plan, refusal }: FoundPlan): string[] {
  if (search) return [];
  if (refusal !== undefined) return [`The smallest detectable difference is unknown: ${refusal}`];
  return [
    (plan && describeDetectable(plan)) ??
      'The smallest detectable difference is unknown: no completed batch experiment shows the spread. Give it to: switchyard experiments plan',
  ];
}

/** The plan of the API, or the reason for which an earlier experiment shows no spread; neither without such an experiment. */
interface FoundPlan {
  plan?: ExperimentPlan | undefined;
  refusal?: string | undefined;
}

/** Returns the plan of the API by the spread of the newest batch experiment. */
async function planFrom(
  session: Session,
  { inputs, repetitions, indicator }: ComparedSize,
): Promise<FoundPlan> {
  const { client, application } = readTarget(session);
  const experiment_id = await findEarlierExperiment(client, application);
  if (experiment_id === undefined) return {};
  try {
    const { body } = await client.call('planExperiment', {
      params: { application_id: application },
      body: {
        experiment_id,
        experiment_type: 'batch',
        candidate: ALL_CANDIDATES,
        indicator,
        difference: ANY_DIFFERENCE,
        inputs,
        repetitions,
      },
    });
    return { plan: body };
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return { refusal: error.reason };
    throw error;
  }
}

interface PlanTarget {
  instances: readonly string[];
  request: RequestFields;
}

/** Prints the plan of the API for a difference, and with instances how long its runs take. */
export async function printPlan(session: Session, { instances, request }: PlanTarget): Promise<void> {
  const { client, application } = readTarget(session);
  const { body: plan } = await client.call('planExperiment', {
    params: { application_id: application },
    body: toBody('planExperiment', request),
  });
  const [first] = plan.plans;
  const share = (first?.runs ?? 0) / Math.max(instances.length, 1);
  const runs = instances.map((instance) => ({ instance, runs: share }));
  const signal = session.terminal.signal;
  const time =
    first && instances.length > 0
      ? await describeTime(client, { application, signal }, { runs, rounds: 1, planMs: 0 })
      : undefined;
  const detectable = describeDetectable(plan);
  session.output.print({
    json: plan,
    text: () =>
      [
        ...plan.sentences.map((text) => `${cleanText(text)}\n`),
        ...(detectable === undefined ? [] : [`${detectable}\n`]),
        ...(time === undefined ? [] : [`The first plan takes: ${time}\n`]),
        ...(plan.plans.length === 0 ? [] : ['\n', formatPlans(session, plan)]),
      ].join(''),
  });
}

function formatPlans({ output }: Session, { plans }: ExperimentPlan): string {
  return formatTable(
    plans,
    {
      REPETITIONS: { value: ({ repetitions }) => repetitions, isNumeric: true },
      INPUTS: { value: ({ inputs }) => formatNumber(inputs), isNumeric: true },
      RUNS: { value: ({ runs }) => formatNumber(runs), isNumeric: true },
    },
    output,
  );
}
