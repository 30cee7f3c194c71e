import type { ReactNode } from 'react';
import type { LastUpdated } from '../../page-data.ts';
import { Heading } from './basic-tags.tsx';

type Props = {
  id: string;
  version: string;
  title: string;
  text: string;
  date: LastUpdated;
  children?: ReactNode;
};

/** The notes of a release below its version, title and date. */
export function Release({ id, version, title, text, date, children }: Props) {
  return (
    <section className="release">
      <Heading level={2} id={id} text={text}>
        <span className="badge">{version}</span> {title}
      </Heading>
      <p className="release-date">
        <time dateTime={date.iso}>{date.text}</time>
      </p>
      {children}
    </section>
  );
}
