/**
 * Run statuses as literals in the text of a statement: the planner uses a partial index only for a status that it sees
 * there, not for a bound parameter.
 */
import { sql } from 'kysely';

export const QUEUED = sql.lit<'queued'>('queued');
export const RUNNING = sql.lit<'running'>('running');
