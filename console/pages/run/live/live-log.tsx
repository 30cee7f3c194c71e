import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { FollowControl, FreshLines, useFollowing } from '../log/follow-control.tsx';
import { LogLines } from '../log/log-lines.tsx';
import { logQuery, NO_LOG } from '../log/log-query.ts';
import { findFirstStart } from '../log/log-times.ts';
import type { RunAddress } from '../queries.ts';
import summary from '../summary/summary-tab.module.css';
import styles from './live-log.module.css';

/** The log of an active run, which follows its end until the reader scrolls up. */
export function LiveLog({ address, run }: { address: RunAddress; run: RunInformation }) {
  const { data } = useQuery(logQuery(address, run.status_v2));
  const { text, times } = data ?? NO_LOG;
  const following = useFollowing(true, text.lineCount);
  const navigate = useNavigate();
  const start = findFirstStart(run);
  return (
    <div className={summary.section}>
      <div className={styles.head}>
        <h2>Log</h2>
        <span className="soft">
          {formatNumber(text.lineCount)} {text.lineCount === 1 ? 'line' : 'lines'}
        </span>
        <FollowControl {...following} />
        <Link to="/apps/$application/runs/$run" params={address} search={{ tab: 'log' }}>
          Open
        </Link>
      </div>
      <div className={styles.lines}>
        <LogLines
          log={text}
          indexes={undefined}
          times={times}
          start={start ?? times.find(0)}
          search={{}}
          searched=""
          current={undefined}
          chosen={undefined}
          onChooseLine={(line) =>
            void navigate({
              to: '/apps/$application/runs/$run',
              params: address,
              search: { tab: 'log', line },
            })
          }
          isFollowing={following.isFollowing}
          onFollow={following.setFollowing}
          emptyText="No line yet. The log shows what the app prints to stderr."
        />
        <FreshLines {...following} />
      </div>
    </div>
  );
}
