/** Paths of an app's input and results by format, relative to its working directory. */
import { dirname } from 'node:path';
import type { ContentPaths, RunSpec } from '../types.ts';
import { normalizeRelativePath } from './archive-rules.ts';
import { AppStartError } from './entry-point.ts';

/** Paths of one run; an absent path does not apply to its formats. */
interface ResolvedContentPaths extends ContentPaths {
  /** Folders to create before the start, so that an app can write without creating them. */
  folders: string[];
  /** Read when the file at the default path is missing: versions of the published client differ in these paths. */
  fallbackPaths?: Partial<Record<ReportPath, string>>;
}

type ReportPath = 'statisticsPath' | 'metricsPath' | 'assetsPath';

const DEFAULT_PATHS: Required<ContentPaths> = {
  inputPath: 'inputs',
  solutionsPath: 'outputs/solutions',
  statisticsPath: 'outputs/statistics/statistics.json',
  metricsPath: 'outputs/metrics/metrics.json',
  assetsPath: 'outputs/assets/assets.json',
};

/** Defaults of the published client from version 1.13 on. */
const FALLBACK_PATHS: Record<ReportPath, string> = {
  statisticsPath: 'outputs/statistics.json',
  metricsPath: 'outputs/metrics.json',
  assetsPath: 'outputs/assets.json',
};

/** Resolves the paths of a run. Throws AppStartError when a path of the manifest leads out of the working folder. */
export function resolveContentPaths(
  spec: Pick<RunSpec, 'input' | 'outputFormat' | 'content'>,
): ResolvedContentPaths {
  const resolve = (name: keyof ContentPaths): string =>
    validatePath(spec.content?.[name] ?? DEFAULT_PATHS[name], name);
  const { format } = spec.input;
  const inputPath =
    format === 'csv-archive' ? 'input' : format === 'multi-file' ? resolve('inputPath') : undefined;
  const content = resolveResultPaths(spec.outputFormat, resolve);
  return {
    ...(inputPath === undefined ? {} : { inputPath }),
    ...content,
    ...(content.metricsPath === undefined ? {} : { fallbackPaths: selectFallbackPaths(spec.content) }),
  };
}

/** Returns the fallback paths of the files whose path the manifest does not name. */
function selectFallbackPaths(named: ContentPaths = {}): Partial<Record<ReportPath, string>> {
  const isNamed = (name: string): boolean =>
    Object.entries(named).some(([key, path]) => key === name && path);
  return Object.fromEntries(Object.entries(FALLBACK_PATHS).filter(([name]) => !isNamed(name)));
}

function resolveResultPaths(
  format: RunSpec['outputFormat'],
  resolve: (name: keyof ContentPaths) => string,
): ResolvedContentPaths {
  if (format === 'csv-archive') return { solutionsPath: 'output', folders: ['output'] };
  if (format !== 'multi-file') return { folders: [] };
  const statisticsPath = resolve('statisticsPath');
  const metricsPath = resolve('metricsPath');
  const assetsPath = resolve('assetsPath');
  const solutionsPath = resolve('solutionsPath');
  return {
    solutionsPath,
    statisticsPath,
    metricsPath,
    assetsPath,
    folders: [solutionsPath, dirname(statisticsPath), dirname(metricsPath), dirname(assetsPath)],
  };
}

function validatePath(path: string, name: keyof ContentPaths): string {
  try {
    const normalized = normalizeRelativePath(path);
    if (normalized !== '') return normalized;
  } catch {
    // The error below names the field of the manifest.
  }
  throw new AppStartError(
    'not-startable',
    `The ${name} "${path}" of the manifest is not a path below the working folder. Use a relative path without "..".`,
  );
}
