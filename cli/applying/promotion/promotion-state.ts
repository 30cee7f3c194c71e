/**
 * The state of a promotion on the server: the instance, and a candidate instance whose description is the record of the
 * promotion. Nothing is stored at the caller, so that any machine can resume it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Instance } from '@switchyard/contract/applications/instances.ts';
import { ApiError, type Client, toBody } from '@switchyard/contract/client.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { findOrNone } from '../../errors/find-or-none.ts';
import { findCandidateId, type Promotion } from './gates.ts';

const CONFLICT = 409;

const RECORD = /^Promotion of \S+ from (\S+) to (\S+)( \(moved back\))?\.$/;

interface PromotionState {
  target: Instance;
  candidate: Instance;
  /** The version before the promotion. */
  previous: string;
  stage: 'testing' | 'promoted' | 'moved back';
}

const formatRecord = ({ instance, version }: Promotion, previous: string, isMovedBack = false): string =>
  `Promotion of ${instance} from ${previous} to ${version}${isMovedBack ? ' (moved back)' : ''}.`;

/** Returns true for the candidate instance of a promotion, which is also its record. */
export function isCandidate({ description }: Pick<Instance, 'description'>): boolean {
  return RECORD.test(description);
}

/** Returns the state, and creates the candidate instance at the first call. Throws CommandError if it does not fit. */
export async function openPromotion(client: Client, promotion: Promotion): Promise<PromotionState> {
  const { application: application_id, instance, version } = promotion;
  const params = { application_id };
  await client.call('getVersion', { params: { ...params, version_id: version } });
  const { body: target } = await client.call('getInstance', { params: { ...params, instance_id: instance } });
  const id = findCandidateId(promotion);
  const found = await findOrNone(() =>
    client.call('getInstance', { params: { ...params, instance_id: id } }),
  );
  if (found) return checkState(promotion, target, found.body);
  if (target.version_id === version)
    throw new CommandError(
      `Instance ${instance} already has version ${version}, and there is no promotion of it. Choose another version.`,
    );
  const { body: candidate } = await client.call('createInstance', {
    params,
    body: toBody('createInstance', {
      ...{ id, version_id: version, configuration: target.configuration },
      description: formatRecord(promotion, target.version_id),
    }),
  });
  return { target, candidate, previous: target.version_id, stage: 'testing' };
}

function checkState(promotion: Promotion, target: Instance, candidate: Instance): PromotionState {
  const { instance, version } = promotion;
  const [, previous, recorded, movedBack] = RECORD.exec(candidate.description) ?? [];
  if (previous === undefined || recorded !== version || candidate.version_id !== version)
    throw new CommandError(
      `Instance ${candidate.id} exists and is not the candidate of this promotion. Delete or rename it: the promotion needs this id.`,
      EXIT_CODES.refused,
    );
  if (movedBack) return { target, candidate, previous, stage: 'moved back' };
  if (target.version_id === version) return { target, candidate, previous, stage: 'promoted' };
  if (target.version_id !== previous)
    throw new CommandError(
      `Instance ${instance} has version ${target.version_id} now, and the tests of this promotion are against ${previous}. ${explainNewPromotion(candidate.id)}`,
      EXIT_CODES.refused,
    );
  if (!isDeepStrictEqual(target.configuration, candidate.configuration))
    throw new CommandError(
      `The configuration of instance ${instance} has changed since the promotion began, so its tests are about another one. ${explainNewPromotion(candidate.id)}`,
      EXIT_CODES.refused,
    );
  return { target, candidate, previous, stage: 'testing' };
}

/** Returns how to promote a version that was tested before. Its tests stay, because a decision depends on all of them. */
export function explainNewPromotion(id: string): string {
  return `Delete instance ${id} and give the gates other names in the file, then promote again; the earlier tests stay.`;
}

/** Moves the instance to the version. Throws CommandError if it has changed since the promotion was opened. */
export async function moveForward(client: Client, promotion: Promotion): Promise<void> {
  const { stage, target } = await openPromotion(client, promotion);
  if (stage !== 'testing') return;
  const { updated_at } = target;
  await setVersion(client, promotion, { version_id: promotion.version, expected_updated_at: updated_at });
}

/** Moves the instance back to the version before, and records it. Throws CommandError if it has another version by now. */
export async function moveBack(client: Client, promotion: Promotion, previous: string): Promise<void> {
  await setVersion(client, promotion, { version_id: previous, expected_version_id: promotion.version });
  await client.call('updateInstance', {
    params: { application_id: promotion.application, instance_id: findCandidateId(promotion) },
    body: { description: formatRecord(promotion, previous, true) },
  });
}

async function setVersion(
  client: Client,
  { application, instance }: Promotion,
  body: { version_id: string; expected_version_id?: string; expected_updated_at?: string },
): Promise<void> {
  const params = { application_id: application, instance_id: instance };
  try {
    await client.call('updateInstance', { params, body: toBody('updateInstance', body) });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === CONFLICT)) throw error;
    throw new CommandError(
      `Somebody changed the instance ${instance} meanwhile, so it was left as it is. ${error.reason}`,
      EXIT_CODES.refused,
    );
  }
}
