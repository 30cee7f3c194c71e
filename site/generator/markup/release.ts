import type { Schema } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import { isValid } from 'date-fns/isValid';
import { parseISO } from 'date-fns/parseISO';
import { formatDay } from '../inputs/last-updated.ts';
import type { MarkupContext } from './markup-context.ts';

/** Returns the anchor of the notes of a release. */
export function getReleaseAnchor(version: string): string {
  return `v${version.replaceAll('.', '-')}`;
}

/** Returns the pattern of the line that begins the notes of a release, for git. Its attributes may have any order. */
function formatTagPattern(version: string): string {
  return `[{]% *release[^%]* version="${version.replaceAll('.', '[.]')}"`;
}

/**
 * The notes of one release below a heading of level 2 with version, title and date. The attribute `date` is a day such as
 * 2026-11-20, or `auto` for the first commit of the notes.
 */
export function createReleaseSchema(context: MarkupContext): Schema {
  return {
    attributes: {
      version: { type: String, required: true, matches: /^\d+\.\d+\.\d+$/ },
      title: { type: String, required: true },
      date: { type: String, default: 'auto' },
    },
    transform(node, config) {
      const { version, title, date } = node.transformAttributes(config);
      const iso = date === 'auto' ? context.findFirstCommitDate(formatTagPattern(version)) : String(date);
      if (date !== 'auto' && !(/^\d{4}-\d\d-\d\d$/.test(iso) && isValid(parseISO(iso)))) {
        context.report(node, `The date "${date}" of a release is no day such as 2026-11-20, and not auto.`);
        return null;
      }
      const id = getReleaseAnchor(version);
      const text = `${version} ${title}`;
      if (context.contents.some((entry) => entry.id === id)) {
        context.report(node, `The notes of the release ${version} are on this page already.`);
      }
      context.contents.push({ id, text, level: 2 });
      context.releases.push({ version, title, date: iso, id });
      const attributes = { id, version, title, text, date: { iso, text: formatDay(iso) } };
      return new Markdoc.Tag('Release', attributes, node.transformChildren(config));
    },
  };
}
