/** Moves a version through the gates of an instance. */
import { hasFact } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ExperimentAddress } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { isExperimentTerminal } from '@switchyard/contract/states.ts';
import { readExperimentView } from '@switchyard/contract/views/experiment-view.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { retry } from '../../errors/retry.ts';
import { createExperiment, startExperiment, stopExperiment } from '../../experiments/create-experiment.ts';
import { findConsolePage, findState } from '../../experiments/find-experiment.ts';
import { waitForEnd } from '../../experiments/wait-for-end.ts';
import type { Session } from '../../session/session.ts';
import { cleanText } from '../../terminal/clean-text.ts';
import type { GateEntry } from '../file-schema.ts';
import { readFile } from '../read-file.ts';
import {
  buildGateRequest,
  decideGate,
  findCandidateId,
  findGateId,
  type GateDecision,
  type Promotion,
} from './gates.ts';
import { planPromotion } from './plan-promotion.ts';
import { explainNewPromotion, moveBack, moveForward, openPromotion } from './promotion-state.ts';
import { watchAfter } from './watch-after.ts';

interface PromoteOptions {
  version: string;
  instance: string;
  file: string;
  /** Runs to watch after the promotion; undefined for none. */
  watchAfter: number | undefined;
  /** Failures in a row after which the watch moves the instance back at once; undefined for the default. */
  outageRuns: number | undefined;
  /** Of the runs of tests that are not on live runs; undefined for that of the gates. */
  priority: number | undefined;
  /** true: print the runs of the gates, and create nothing. */
  plan: true | undefined;
}

/** A gate with its experiment and its decision, as `--json` prints it. */
interface Step extends GateDecision {
  gate: string;
  experiment_id: string;
  console_url: string;
}

/** Promotes the version: tests, then the change of the instance, then the watch. Sets the exit code 1 for a bad end. */
export async function promote(session: Session, options: PromoteOptions): Promise<void> {
  const client = session.connect();
  const { promotion, gates } = readGates(session, options);
  if (options.plan) return planPromotion(session, promotion, gates);
  const { previous, stage } = await openPromotion(client, promotion);
  const steps: Step[] = [];
  const finish = (outcome: string, reason: string): void => {
    session.exitCode = outcome === 'promoted' ? EXIT_CODES.success : EXIT_CODES.failure;
    session.output.printSentence(
      { ...promotion, previous_version: previous, outcome, reason, gates: steps },
      cleanText(reason),
      outcome,
    );
  };
  if (stage === 'moved back') return finish('moved back', describeMovedBack(promotion, previous));
  for (const [index, gate] of stage === 'testing' ? gates.entries() : []) {
    const step = await passGate(session, promotion, { gate, place: `${index + 1} of ${gates.length}` });
    steps.push(step);
    if (step.outcome !== 'positive') return finish(step.outcome, describeStop(promotion, step, previous));
  }
  // It reads the state first, so that it may be repeated after a lost connection.
  await retry(() => moveForward(client, promotion), { signal: session.terminal.signal });
  const { instance, version } = promotion;
  session.output.note(`Instance ${instance} has version ${version}; before it had ${previous}.`);
  const { reason, interruption } =
    options.watchAfter === undefined
      ? {}
      : await watch(session, promotion, {
          ...{ gates, previous, runs: options.watchAfter, outageRuns: options.outageRuns },
        });
  if (interruption !== undefined) return finish('changed', interruption);
  if (reason === undefined)
    return finish('promoted', `Version ${version} is promoted on instance ${instance}.`);
  await moveBack(client, promotion, previous);
  return finish('moved back', `${reason} Instance ${instance} has version ${previous} again.`);
}

function readGates(session: Session, { file, instance, version, priority }: PromoteOptions) {
  const { applications = {} } = readFile(session.terminal, file);
  const [only, ...others] = Object.keys(applications);
  const application =
    session.options.app ?? (others.length === 0 ? only : undefined) ?? session.findApplication();
  const gates = applications[application]?.instances?.[instance]?.gates;
  if (!gates)
    throw new CommandError(
      `${file} has no gates for instance ${instance} of application ${application}. Add them as applications.${application}.instances.${instance}.gates.`,
    );
  const names = gates.map(({ name, type }) => name ?? type);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined)
    throw new CommandError(`Two gates of instance ${instance} are called ${repeated}; give each a name.`);
  return {
    promotion: { application, instance, version },
    gates: priority === undefined ? gates : gates.map((gate) => setPriority(gate, priority)),
  };
}

/** Tests on live runs have no priority of their own: a switchback test creates no runs, and copies are always last. */
function setPriority(gate: GateEntry, priority: number): GateEntry {
  return hasFact(gate.type, 'isLive') ? gate : { ...gate, priority };
}

interface PlacedGate {
  gate: GateEntry;
  place: string;
}

/** Finds or creates the experiment of the gate, waits for its end, and decides. */
async function passGate(session: Session, promotion: Promotion, { gate, place }: PlacedGate): Promise<Step> {
  const { output } = session;
  const client = session.connect();
  const address: ExperimentAddress = {
    application: promotion.application,
    type: gate.type,
    id: findGateId(promotion, gate),
  };
  const found = await findState(client, address);
  const isLive = hasFact(gate.type, 'isLive');
  if (!found) await createExperiment(client, address, buildGateRequest(promotion, gate));
  if (isLive && (!found || found.status === 'draft')) await startExperiment(client, address);
  const page = findConsolePage(session.findConnection().url, address);
  const name = gate.name ?? gate.type;
  output.note(`Gate ${place}, ${name}: ${found ? 'found' : 'created'} ${gate.type} ${address.id}\n  ${page}`);
  const decide = async (): Promise<GateDecision> =>
    decideGate(await readExperimentView(client, address), gate);
  const { status } = await waitForEnd(session, address, {
    // Verdicts of live tests are valid at any time, and a bad one should not wait for the end of the plan.
    checkEarly: async () => isLive && (await decide()).outcome === 'negative',
  });
  if (!isExperimentTerminal(status)) await stopExperiment(client, address, 'complete');
  const decision = await decide();
  output.note(`  ${decision.outcome}: ${cleanText(decision.reason)}`);
  return { gate: name, experiment_id: address.id, console_url: page, ...decision };
}

interface WatchTarget {
  gates: readonly GateEntry[];
  previous: string;
  runs: number;
  outageRuns: number | undefined;
}

async function watch(
  session: Session,
  promotion: Promotion,
  { gates, ...target }: WatchTarget,
): ReturnType<typeof watchAfter> {
  const client = session.connect();
  const { application, instance } = promotion;
  const params = { application_id: application, instance_id: instance };
  const { body: watched } = await client.call('getInstance', { params });
  const last = gates.at(-1);
  let reported = '';
  return watchAfter(client, {
    ...{ promotion, ...target, since: watched.updated_at, signal: session.terminal.signal },
    readLastGate: async () => {
      if (!last) return { outcome: 'positive', reason: '' };
      const address = { application, type: last.type, id: findGateId(promotion, last) };
      return decideGate(await readExperimentView(client, address), last);
    },
    report: (line) => {
      if (line !== reported) session.output.note(line);
      reported = line;
    },
  });
}

function describeStop({ instance }: Promotion, step: Step, previous: string): string {
  const repeat =
    step.outcome === 'undecided'
      ? ` To test it again, give the gate another name and new inputs in the file. Experiment ${step.experiment_id} stays: its result counts too.`
      : '';
  return `Gate ${step.gate} is ${step.outcome}: ${step.reason} Instance ${instance} keeps version ${previous}.${repeat}`;
}

function describeMovedBack(promotion: Promotion, previous: string): string {
  const { version } = promotion;
  return `Version ${version} was promoted and moved back to ${previous} before. ${explainNewPromotion(findCandidateId(promotion))}`;
}
