/** The runs that a promotion would create. */
import type { ExperimentAddress } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { findState } from '../../experiments/find-experiment.ts';
import { describeRuns, describeTime, sizeExperiment } from '../../experiments/planning/size-experiment.ts';
import type { Session } from '../../session/session.ts';
import { cleanText } from '../../terminal/clean-text.ts';
import type { GateEntry } from '../file-schema.ts';
import { buildGateRequest, findCandidateId, findGateId, type Promotion } from './gates.ts';

/** Prints how many runs each gate creates and how long they take. A gate whose experiment exists creates none again. */
export async function planPromotion(
  session: Session,
  promotion: Promotion,
  gates: readonly GateEntry[],
): Promise<void> {
  const planned = [];
  for (const gate of gates) planned.push(await planGate(session, promotion, gate));
  const lines = planned.map(
    ({ gate, text }, index) => `Gate ${index + 1} of ${gates.length}, ${gate}: ${text}`,
  );
  session.output.print({
    json: { ...promotion, gates: planned.map(({ text: _, ...gate }) => gate) },
    text: () => `${[...lines, 'Nothing was created.'].map(cleanText).join('\n')}\n`,
  });
}

async function planGate(session: Session, promotion: Promotion, gate: GateEntry) {
  const client = session.connect();
  const { application, instance } = promotion;
  const address: ExperimentAddress = { application, type: gate.type, id: findGateId(promotion, gate) };
  const planned = { gate: gate.name ?? gate.type, experiment_id: address.id };
  const found = await findState(client, address);
  if (found)
    return {
      ...planned,
      runs: [],
      time: null,
      text: `${address.id} exists and is ${found.status}; no new runs.`,
    };
  const size = await sizeExperiment(client, address, buildGateRequest(promotion, gate));
  // The candidate instance may not exist, and has the configuration of the other one.
  const candidate = findCandidateId(promotion);
  const timed = size.runs.map((part) => (part.instance === candidate ? { ...part, instance } : part));
  const { signal } = session.terminal;
  const time = await describeTime(client, { application, signal }, { ...size, runs: timed });
  return { ...planned, runs: size.runs, time, text: `${describeRuns(size)} ${time}` };
}
