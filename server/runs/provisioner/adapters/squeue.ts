/**
 * Parses `squeue --json`. Its form differs between versions. Up to 22.05 a state is a text and an exit code a number. From 23.02
 * on a state is a list of flags, and a number is an object `{set, infinite, number}`.
 */
import { formatReason, type ListedJob, type PendingReason } from './adapter.ts';

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** States in which a job has no process yet. All states that are in neither list count as running, such as COMPLETING. */
const PENDING_STATES = new Set([
  'PENDING',
  'CONFIGURING',
  'REQUEUED',
  'REQUEUE_FED',
  'REQUEUE_HOLD',
  'RESV_DEL_HOLD',
]);
const ENDED_STATES = new Set([
  ...['COMPLETED', 'CANCELLED', 'FAILED', 'TIMEOUT', 'NODE_FAIL', 'PREEMPTED', 'BOOT_FAIL', 'DEADLINE'],
  ...['OUT_OF_MEMORY', 'REVOKED', 'SPECIAL_EXIT', 'LAUNCH_FAILED'],
]);

/**
 * Returns the jobs whose names begin with the prefix. Throws an Error for a text that is not the output of squeue, and for one with
 * errors. While slurmctld does not answer, squeue ends with status 0, errors and an empty list.
 */
export function parseSqueue(text: string, prefix: string): ListedJob[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error(
      `squeue --json printed no JSON, but "${text.trim().slice(0, 100)}". Switchyard needs Slurm 21.08 or newer with its JSON plugin.`,
    );
  }
  const errors = isObject(document) ? readErrors(document.errors) : [];
  if (errors.length > 0)
    throw new Error(
      `squeue --json reported an error: ${errors.join('; ').slice(0, ERRORS_CHARS_MAX)}. Look whether slurmctld answers, with "scontrol ping".`,
    );
  const jobs = isObject(document) ? document.jobs : null;
  if (!Array.isArray(jobs))
    throw new Error('squeue --json printed no list of jobs. Run it by hand to see why.');
  return jobs.filter(isObject).flatMap((job) => {
    const { name, job_id } = job;
    if (typeof name !== 'string' || !name.startsWith(prefix)) return [];
    const id = readNumber(job_id);
    if (id === null || readStates(job.job_state).length === 0)
      throw new Error(
        `squeue --json printed the job ${name} without an id or a state. Run it by hand to see why.`,
      );
    return [{ name, id: String(id), ...parseState(job) }];
  });
}

const ERRORS_CHARS_MAX = 300;

/** Returns the descriptions of errors: objects in all known versions, each with a text under one of two names. */
function readErrors(errors: unknown): string[] {
  if (!Array.isArray(errors)) return [];
  return errors.map((one) => {
    const texts = isObject(one) ? [one.description, one.error] : [one];
    return texts.find((text): text is string => typeof text === 'string' && text !== '') ?? 'no description';
  });
}

/**
 * Reasons for which no job like this one starts, however long it waits: https://slurm.schedmd.com/job_reason_codes.html.
 * A job that somebody holds (JobHeldUser, JobHeldAdmin) is not among them, because a job in its place would evade the hold.
 * Limits of a user, an association or a partition pass when other jobs end or a node returns.
 */
const BLOCKING_REASONS =
  /^(AccountNotAllowed|BadConstraints|DependencyNeverSatisfied|InvalidAccount|InvalidQOS|MaxMemPerLimit|PartitionConfig|PartitionTimeLimit|QOSNotAllowed|ReservationDeleted|(Assoc|QOS)Max\w+Per(Job|Node)(Limit)?|QOSMin\w+)$/;

function parseState(job: Fields): Pick<ListedJob, 'state' | 'pending' | 'failure'> {
  const states = readStates(job.job_state);
  // COMPLETING stands beside the state in which the job ended: its processes may still be there.
  const isCompleting = states.includes('COMPLETING');
  const end = states.find((state) => ENDED_STATES.has(state));
  if (end !== undefined && !isCompleting)
    return { state: 'ended', pending: null, failure: describeEnd(end, job) };
  if (!states.some((state) => PENDING_STATES.has(state)))
    return { state: 'running', pending: null, failure: null };
  return { state: 'pending', pending: parsePendingReason(job), failure: null };
}

function parsePendingReason(job: Fields): PendingReason | null {
  const code = readReason(job);
  if (code === '') return null;
  const description = typeof job.state_description === 'string' ? job.state_description.trim() : '';
  return { text: formatReason(code, description), isBlocked: BLOCKING_REASONS.test(code) };
}

/** Returns the reason of the job's state; an empty text for none. */
const readReason = ({ state_reason: reason }: Fields): string =>
  typeof reason === 'string' && reason !== 'None' ? reason : '';

/** Returns why the job ended badly. Null for a job that ended by itself, and for one that somebody cancelled while it worked. */
function describeEnd(state: string, job: Fields): string | null {
  if (state === 'COMPLETED') return null;
  const reason = readReason(job);
  return [`Slurm says ${state}`, reason && `reason ${reason}`, describeExit(job.exit_code)]
    .filter((part) => part !== '')
    .join(', ');
}

/** A number is the status of wait(2); an object has the parts. */
function describeExit(exit: unknown): string {
  const status = readNumber(exit);
  if (status !== null) {
    if (status === 0) return '';
    return (status & 127) === 0 ? `exit code ${status >> 8}` : `signal ${status & 127}`;
  }
  if (!isObject(exit)) return '';
  const code = readNumber(exit.return_code);
  if (code !== null && code !== 0) return `exit code ${code}`;
  const signal = isObject(exit.signal) ? readNumber(exit.signal.id ?? exit.signal.signal_id) : null;
  return signal === null || signal === 0 ? '' : `signal ${signal}`;
}

/** Reads a number, also as `{set, infinite, number}`; null for one that is not set. */
function readNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (isObject(value) && value.set !== false && typeof value.number === 'number') return value.number;
  return null;
}

const readStates = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string');
