/** The operation on community apps: the sample apps that the build of the console has packed. */
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';
import { notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import type { ConsoleFiles } from '../site/console.ts';

const LIST = 'community-apps/manifest.yml';
/** JSON, which is YAML too. */
const LIST_PATH = '/samples/community.json';
const ARCHIVE = /^community-apps\/(?<app>[^/]+)\/(?<version>[^/]+)\/(?<name>[^/]+)\.tar\.gz$/;

/** The list, as the build writes it. */
const parseList = createJsonParser(
  Type.Object({
    apps: Type.Array(Type.Object({ name: Type.String(), app_versions: Type.Array(Type.String()) })),
  }),
);

/** Returns the path of the file below `/console`; undefined for a file that the community apps do not have. */
function findCommunityFile(files: ConsoleFiles, file: string): string | undefined {
  const list = files.get(LIST_PATH);
  if (!list) return undefined;
  if (file === LIST) return LIST_PATH;
  const { app, version, name } = ARCHIVE.exec(file)?.groups ?? {};
  if (app === undefined || version === undefined || name !== `${app}_${version}`) return undefined;
  const { apps } = parseList(list.plain.toString(), LIST_PATH);
  const path = `/samples/${app}.tgz`;
  const isListed = apps.some((one) => one.name === app && one.app_versions.includes(version));
  return isListed && files.has(path) ? path : undefined;
}

export const getCommunityFile: OperationHandler<'getCommunityFile'> = async (
  { consoleFiles, publicUrl },
  { query },
) => {
  if (!consoleFiles)
    throw notFound(
      'This server has no community apps: it runs without the built console, which `npm start` builds.',
    );
  const path = findCommunityFile(consoleFiles, query.file);
  if (path === undefined)
    throw notFound(
      `file is ${quoteValue(query.file)}, which is no file of the community apps; \`nextmv community list\` shows apps and versions.`,
    );
  return { status: 200, body: { url: `${publicUrl()}/console${path}` } };
};
