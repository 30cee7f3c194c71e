import type { NavigationEntry, Neighbour } from '../../page-data.ts';
import type { Problem } from '../inputs/problems.ts';

/** A page or folder before it is in the tree, with its path of slugs and its file for messages. */
export type UnplacedEntry = Omit<NavigationEntry, 'slug' | 'subpages'> & { segments: string[]; file: string };

type Building = Omit<NavigationEntry, 'subpages'> & { file?: string; subpages: Building[] };

/**
 * Builds the navigation tree. A folder gets its label and place from the page of the same name beside it, or from its
 * `folder.yaml`. Two entries of one folder never share a navOrder, so the order of all pages is fixed.
 */
export function buildNavigation(places: UnplacedEntry[], problems: Problem[]): NavigationEntry[] {
  const root: Building = { slug: '', label: '', navOrder: 0, subpages: [] };
  for (const { segments, ...place } of places) {
    let entry: Building = root;
    for (const slug of segments) {
      const known: Building | undefined = entry.subpages.find((child) => child.slug === slug);
      const next: Building = known ?? { slug, label: '', navOrder: 0, subpages: [] };
      if (!known) entry.subpages.push(next);
      entry = next;
    }
    if (entry.file !== undefined) {
      problems.push({
        file: place.file,
        line: 1,
        message: `This place in the navigation is taken by ${entry.file}; keep one of the two.`,
      });
      continue;
    }
    Object.assign(entry, place);
  }

  const finish = (entry: Building, path: string[]): NavigationEntry => {
    const { file, subpages, ...rest } = entry;
    const first = subpages[0];
    if (path.length > 0 && file === undefined && first !== undefined) {
      const folder = path.join('/');
      problems.push({
        file: `${folder}/folder.yaml`,
        line: 1,
        message: `The folder "${folder}" has pages but neither this file nor a page "${folder}.md" names it.`,
      });
    }
    const childByOrder = new Map<number, Building>();
    for (const child of subpages) {
      const other = childByOrder.get(child.navOrder);
      if (other?.file !== undefined && child.file !== undefined) {
        problems.push({
          file: child.file,
          line: 1,
          message: `The navOrder ${child.navOrder} is also that of ${other.file}; every entry of a folder has its own.`,
        });
      }
      childByOrder.set(child.navOrder, child);
    }
    const sorted = subpages
      .toSorted((a, b) => a.navOrder - b.navOrder)
      .map((child) => finish(child, [...path, child.slug]));
    return sorted.length > 0 ? { ...rest, subpages: sorted } : rest;
  };
  return finish(root, []).subpages ?? [];
}

/** Lists all pages in the fixed order of the site: each page before its subpages, folders by navOrder. */
export function flattenNavigation(navigation: NavigationEntry[]): Neighbour[] {
  return navigation.flatMap(({ route, label, subpages }) => [
    ...(route === undefined ? [] : [{ route, label }]),
    ...flattenNavigation(subpages ?? []),
  ]);
}

/** Returns the route of an entry: that of its page, or of the first page below it. */
export function getFirstRoute({ route, subpages = [] }: NavigationEntry): string | undefined {
  return route ?? flattenNavigation(subpages)[0]?.route;
}

/** Lists the entries around a page, outermost first. An entry without a page has the route of the first page below it. */
export function findParents(navigation: NavigationEntry[], route: string): Neighbour[] {
  for (const entry of navigation) {
    const { label, subpages = [] } = entry;
    if (!flattenNavigation(subpages).some((page) => page.route === route)) continue;
    return [{ route: getFirstRoute(entry) ?? route, label }, ...findParents(subpages, route)];
  }
  return [];
}
