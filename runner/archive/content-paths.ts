/** Where an app finds its input and leaves its results, by format, relative to its working directory. */
import { dirname } from 'node:path';
import type { ContentPaths, RunSpec } from '../types.ts';
import { normalizeRelativePath } from './archive-rules.ts';
import { AppStartError } from './entry-point.ts';

export interface ResolvedContentPaths extends ContentPaths {
  /** Made before the start, so that an app can write without making them. */
  folders: string[];
  /** Looked at where the file above is not there: the published client has written the same to both. */
  fallbackPaths?: Partial<Record<ReportPath, string>>;
}

type ReportPath = 'statisticsPath' | 'metricsPath' | 'assetsPath';

const MULTI_FILE: Required<ContentPaths> = {
  inputPath: 'inputs',
  solutionsPath: 'outputs/solutions',
  statisticsPath: 'outputs/statistics/statistics.json',
  metricsPath: 'outputs/metrics/metrics.json',
  assetsPath: 'outputs/assets/assets.json',
};

/** Defaults of the published client from 1.13 on. */
const OTHER_PATHS: Record<ReportPath, string> = {
  statisticsPath: 'outputs/statistics.json',
  metricsPath: 'outputs/metrics.json',
  assetsPath: 'outputs/assets.json',
};

/** Throws CannotStart when a path of the manifest leads out of the working folder. */
export function resolveContentPaths(
  job: Pick<RunSpec, 'input' | 'outputFormat' | 'content'>,
): ResolvedContentPaths {
  const path = (name: keyof ContentPaths): string => inside(job.content?.[name] ?? MULTI_FILE[name], name);
  const { format } = job.input;
  const inputPath =
    format === 'csv-archive' ? 'input' : format === 'multi-file' ? path('inputPath') : undefined;
  const content = resultPaths(job.outputFormat, path);
  return {
    ...(inputPath === undefined ? {} : { inputPath }),
    ...content,
    ...(content.metricsPath === undefined ? {} : { fallbackPaths: otherPaths(job.content) }),
  };
}

/** Other paths of the files whose path the manifest does not name. */
function otherPaths(named: ContentPaths | undefined): Partial<Record<ReportPath, string>> {
  const free = Object.entries(OTHER_PATHS).filter(([name]) => named?.[name as ReportPath] === undefined);
  return Object.fromEntries(free);
}

function resultPaths(
  format: RunSpec['outputFormat'],
  path: (name: keyof ContentPaths) => string,
): ResolvedContentPaths {
  if (format === 'csv-archive') return { solutionsPath: 'output', folders: ['output'] };
  if (format !== 'multi-file') return { folders: [] };
  const statisticsPath = path('statisticsPath');
  const metricsPath = path('metricsPath');
  const assetsPath = path('assetsPath');
  const solutionsPath = path('solutionsPath');
  return {
    solutionsPath,
    statisticsPath,
    metricsPath,
    assetsPath,
    folders: [solutionsPath, dirname(statisticsPath), dirname(metricsPath), dirname(assetsPath)],
  };
}

function inside(path: string, name: keyof ContentPaths): string {
  try {
    const safe = normalizeRelativePath(path);
    if (safe !== '') return safe;
  } catch {
    // Said below.
  }
  throw new AppStartError(
    'not-startable',
    `The ${name} "${path}" of the manifest is not a path below the working folder.`,
  );
}
