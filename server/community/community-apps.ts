/** Finds files of community apps by the paths of the published client, among the files of the console. */
import type { ConsoleFiles } from '../site/console.ts';

const LIST = 'community-apps/manifest.yml';
/** JSON, which is YAML too. */
const LIST_PATH = '/samples/community.json';
const ARCHIVE = /^community-apps\/(?<app>[^/]+)\/(?<version>[^/]+)\/(?<name>[^/]+)\.tar\.gz$/;

/** An entry of the list, as the build writes it. */
interface CommunityApp {
  name: string;
  app_versions: string[];
}

/** Returns the path of the file below `/console`; undefined for a file that the community apps do not have. */
export function findCommunityFile(files: ConsoleFiles, file: string): string | undefined {
  const list = files.get(LIST_PATH);
  if (!list) return undefined;
  if (file === LIST) return LIST_PATH;
  const { app, version, name } = ARCHIVE.exec(file)?.groups ?? {};
  if (app === undefined || version === undefined || name !== `${app}_${version}`) return undefined;
  const { apps }: { apps: CommunityApp[] } = JSON.parse(list.plain.toString());
  const path = `/samples/${app}.tgz`;
  const isListed = apps.some((one) => one.name === app && one.app_versions.includes(version));
  return isListed && files.has(path) ? path : undefined;
}
