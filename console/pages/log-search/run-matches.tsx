import type { RunLogMatches } from '@switchyard/contract/runs/logs/log-search.ts';
import { Link } from '@tanstack/react-router';
import { cleanLogLine } from '../../ui/log/clean-log-line.ts';
import { MarkedText } from '../../ui/log/marked-text.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import styles from './log-search-page.module.css';

interface RunMatchesProps {
  application: string;
  matches: RunLogMatches;
  /** The searched text. */
  text: string;
}

/** A run with its first matching lines; each links to its place in the log. */
export function RunMatches({ application, matches, text }: RunMatchesProps) {
  const { run_id: run, name, status_v2, created_at, lines, has_more_lines } = matches;
  const params = { application, run };
  return (
    <li className={styles.run}>
      <p className={styles.heading}>
        <RunLink application={application} run={run}>
          <bdi>{name || run}</bdi>
        </RunLink>
        <StatusBadge status={status_v2} />
        <RelativeTime at={created_at} />
      </p>
      <ul className={styles.lines}>
        {lines.map(({ line, level, log, truncated }) => (
          <li key={line}>
            <Link
              to="/apps/$application/runs/$run"
              params={params}
              search={{ tab: 'log', line }}
              className={styles.line ?? ''}
              data-level={level}
            >
              <span className={styles.number}>
                <span className="visually-hidden">Line </span>
                {line}
              </span>
              <bdi className={styles.text}>
                <MarkedText text={cleanLogLine(log)} searched={text} />
                {truncated && ' …'}
              </bdi>
            </Link>
          </li>
        ))}
      </ul>
      {has_more_lines && (
        <Link
          to="/apps/$application/runs/$run"
          params={params}
          search={{ tab: 'log', ...(text !== '' && { find: text }) }}
          className={styles.more ?? ''}
        >
          More lines in this log
        </Link>
      )}
    </li>
  );
}
