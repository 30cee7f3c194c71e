/** Reads the experiments of all types as one list. The API has a list for each type. */

import type { Client } from '../../client.ts';
import type { ExperimentStatus } from '../../states.ts';
import { countRuns, type ExperimentCounts, type ExperimentType } from './experiment-types.ts';

/** An experiment of any type in the list. */
export interface ListedExperiment {
  type: ExperimentType;
  id: string;
  name: string;
  status: ExperimentStatus;
  created_at: string;
  /** Absent for an acceptance test, whose batch has the runs. */
  progress?: { ended: number; requested: number; failed: number };
  /** The verdict that lists contain; absent where only the experiment itself has it. */
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
  results?: { passed: boolean };
}

type ApiPage<Item> = readonly Item[] | { items: readonly Item[]; next_page_token?: string };

function readPage<Item extends ApiExperiment>(
  body: ApiPage<Item>,
  findType: (item: Item) => ExperimentType,
): ListPage {
  const isPaged = 'items' in body;
  const items = isPaged ? body.items : body;
  return {
    items: items.map((item) => formatExperiment(item, findType(item))),
    token: isPaged ? body.next_page_token : undefined,
  };
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

const buildRequest = ({ application, token, signal }: ListRequest) => ({
  params: { application_id: application },
  query: { pagereturn: true, ...(token !== undefined && { pagetoken: token }) },
  signal,
});

/** The lists of the API. Batch experiments and scenario tests have one together. */
const LISTS = {
  batch: async (request: ListRequest) => {
    const { query, ...rest } = buildRequest(request);
    const only = request.type === 'batch' || request.type === 'scenario' ? { type: request.type } : {};
    const { body } = await request.client.call('listBatchExperiments', {
      ...rest,
      query: { ...query, ...only },
    });
    return readPage(body, ({ type }) => type);
  },
  acceptance: async (request: ListRequest) =>
    readPage(
      (await request.client.call('listAcceptanceTests', buildRequest(request))).body,
      () => 'acceptance',
    ),
  shadow: async (request: ListRequest) =>
    readPage((await request.client.call('listShadowTests', buildRequest(request))).body, () => 'shadow'),
  switchback: async (request: ListRequest) =>
    readPage(
      (await request.client.call('listSwitchbackTests', buildRequest(request))).body,
      () => 'switchback',
    ),
  bisect: async (request: ListRequest) =>
    readPage(
      (await request.client.call('listBisectExperiments', buildRequest(request))).body,
      () => 'bisect',
    ),
} satisfies Record<string, (request: ListRequest) => Promise<ListPage>>;

type ListName = keyof typeof LISTS;
const LIST_NAMES = ['batch', 'acceptance', 'shadow', 'switchback', 'bisect'] as const satisfies ListName[];

/** The lists that have another page, with its token; null for the first page. */
export type ListTokens = Partial<Record<ListName, string | null>>;

/** One page of each list. */
export interface ExperimentsPage {
  items: readonly ListedExperiment[];
  next: ListTokens | undefined;
}

/** Returns the lists to begin with. */
export function listFirstTokens(type: ExperimentType | undefined): ListTokens {
  if (type === 'scenario') return { batch: null };
  return Object.fromEntries(
    LIST_NAMES.filter((name) => type === undefined || name === type).map((name) => [name, null]),
  );
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
  const names = LIST_NAMES.filter((name) => tokens[name] !== undefined);
  const pages = await Promise.all(
    names.map((name) => LISTS[name]({ ...request, token: tokens[name] ?? undefined })),
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

/** Returns the experiments of the pages that have the type, newest first. */
export function mergeExperiments(
  pages: readonly ExperimentsPage[],
  type: ExperimentType | undefined,
): ListedExperiment[] {
  return pages
    .flatMap(({ items }) => items)
    .filter((item) => type === undefined || item.type === type)
    .toSorted(
      (one, other) => other.created_at.localeCompare(one.created_at) || one.id.localeCompare(other.id),
    );
}
