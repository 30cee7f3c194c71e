/** Reads the experiments of all types as one list. The API has a list for each type. */

import type { Client } from '../../client.ts';
import {
  EXPERIMENT_KINDS,
  EXPERIMENTS,
  type ExperimentKind,
  type ExperimentType,
  listTypesOfKind,
} from '../../experiment-types/experiment-types.ts';
import type { ExperimentStatus } from '../../states.ts';
import { countRuns, type ExperimentCounts } from './call-experiment.ts';

/** An experiment of any type in the list. */
export interface ListedExperiment {
  type: ExperimentType;
  id: string;
  name: string;
  status: ExperimentStatus;
  created_at: string;
  /** Of an acceptance test, those of the batch that was made for it. */
  progress?: { ended: number; requested: number; failed: number };
  /** The result that lists contain: that of an acceptance test. The verdict is in the experiment itself. */
  verdict?: string;
}

interface ListPage {
  items: readonly ListedExperiment[];
  token: string | undefined;
}

interface ListRequest {
  client: Client;
  application: string;
  type: ExperimentType | undefined;
  token: string | undefined;
  signal: AbortSignal;
}

interface ApiExperiment extends ExperimentCounts {
  id: string;
  name: string;
  status: ExperimentStatus;
  created_at: string;
  /** Only in the list of two types. */
  type?: ExperimentType;
  results?: { passed: boolean };
}

function formatExperiment(item: ApiExperiment, type: ExperimentType): ListedExperiment {
  const { id, name, status, created_at, results, number_of_completed_runs: ended } = item;
  return {
    type,
    id,
    name,
    status,
    created_at,
    ...(ended !== undefined && {
      progress: { ended, requested: countRuns(item), failed: item.number_of_failed_runs ?? 0 },
    }),
    ...(results && { verdict: results.passed ? 'passed' : 'not passed' }),
  };
}

/** Reads a page of the list. Only the list of two types has a filter by type. */
async function readList(
  name: ExperimentKind,
  { client, application, type, token, signal }: ListRequest,
): Promise<ListPage> {
  const shared = listTypesOfKind(name).length > 1;
  const {
    body,
  }: { body: readonly ApiExperiment[] | { items: readonly ApiExperiment[]; next_page_token?: string } } =
    await client.call(`list${EXPERIMENTS[name].resource}s`, {
      params: { application_id: application },
      query: {
        pagereturn: true,
        ...(token !== undefined && { pagetoken: token }),
        ...(shared && type !== undefined && { type }),
      },
      signal,
    });
  const isPaged = 'items' in body;
  return {
    items: (isPaged ? body.items : body).map((item) => formatExperiment(item, item.type ?? name)),
    token: isPaged ? body.next_page_token : undefined,
  };
}

/** The lists that have another page, with its token; null for the first page. */
export type ListTokens = Partial<Record<ExperimentKind, string | null>>;

/** One page of each list. */
export interface ExperimentsPage {
  items: readonly ListedExperiment[];
  next: ListTokens | undefined;
}

/** Returns the lists to begin with. */
export function listFirstTokens(type: ExperimentType | undefined): ListTokens {
  const names = type === undefined ? EXPERIMENT_KINDS : [EXPERIMENTS[type].kind];
  return Object.fromEntries(names.map((name) => [name, null]));
}

/** The next page of the lists that have one. */
export interface ExperimentsRequest {
  client: Client;
  application: string;
  type: ExperimentType | undefined;
  tokens: ListTokens;
  signal: AbortSignal;
}

/** Reads the next page of each list that has one. */
export async function readExperiments({ tokens, ...request }: ExperimentsRequest): Promise<ExperimentsPage> {
  const names = EXPERIMENT_KINDS.filter((name) => tokens[name] !== undefined);
  const pages = await Promise.all(
    names.map((name) => readList(name, { ...request, token: tokens[name] ?? undefined })),
  );
  const next = Object.fromEntries(
    names.flatMap((name, index) => {
      const token = pages[index]?.token;
      return token === undefined ? [] : [[name, token]];
    }),
  );
  return {
    items: pages.flatMap(({ items }) => items),
    next: Object.keys(next).length === 0 ? undefined : next,
  };
}

/** Returns the experiments of the type, newest first. A batch made for an acceptance test shares its id, name and row. */
export function mergeExperiments(
  pages: readonly ExperimentsPage[],
  type: ExperimentType | undefined,
): ListedExperiment[] {
  const items = pages.flatMap((page) => page.items.filter((one) => type === undefined || one.type === type));
  const findTwin = (of: ListedExperiment) =>
    items.find((one) => one.type !== of.type && one.id === of.id && one.name === of.name);
  return items
    .filter((item) => !item.progress || (findTwin(item) ?? item).progress)
    .map((item) => ({ ...findTwin(item), ...item }))
    .toSorted(
      (one, other) => other.created_at.localeCompare(one.created_at) || one.id.localeCompare(other.id),
    );
}
