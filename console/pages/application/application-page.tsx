import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { applicationQuery, versionsQuery } from '../../client/applications.ts';
import { listItems } from '../../client/list-items.ts';
import { subscriptionQuery } from '../../client/subscriptions.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { FactList } from '../../ui/facts.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { SubscriptionBadge } from '../../ui/subscriptions/subscription-badge.tsx';
import { isSubscription, SubscriptionNotice } from '../../ui/subscriptions/subscription-notice.tsx';
import { useRight } from '../../ui/use-right.ts';
import { ApplicationActions } from './application-actions.tsx';
import styles from './application-page.module.css';
import { HtmlAssetsSection } from './html-assets-section.tsx';
import { IndicatorSection } from './indicator-section.tsx';
import { InstancesSection } from './instances-section.tsx';
import { RecentRuns } from './recent-runs.tsx';
import { VersionsSection } from './versions/versions-section.tsx';

const PushDialog = lazy(async () => ({
  default: (await import('./push/push-dialog.tsx')).PushDialog,
}));

/** One application: how its objective develops, its latest runs, and what they can run. */
export function ApplicationPage() {
  const { application } = useParams({ from: '/signed-in/apps/$application/' });
  const { data } = useSuspenseQuery(applicationQuery(application));
  const mayRun = useRight('run');
  const isSubscribed = isSubscription(data);
  const { data: subscription } = useQuery({
    ...subscriptionQuery(data.subscription_id),
    enabled: isSubscribed,
  });
  const acceptsRuns = subscription === undefined || subscription?.state === 'active';
  usePageTitle(data.name);
  return (
    <>
      <PageHeader
        title={data.name}
        description={
          <>
            <code>{data.id}</code> <CopyButton text={data.id} label="Copy application id" />{' '}
            {isSubscribed && <SubscriptionBadge subscription={data.subscription_id} />}
            {data.description && <span className={styles.description}>{data.description}</span>}
          </>
        }
        actions={
          <>
            {mayRun && acceptsRuns && data.active_executable !== null && (
              <LinkButton kind="primary" to="/apps/$application/new-run" params={{ application }}>
                New run
              </LinkButton>
            )}
            <LinkButton to="/apps/$application/runs" params={{ application }}>
              All runs
            </LinkButton>
            {!isSubscribed && (
              <PushButton application={application} isFirst={data.active_executable === null} />
            )}
            <ApplicationActions application={data} />
          </>
        }
      />
      <div className={styles.sections}>
        {!acceptsRuns && (
          <SubscriptionNotice>
            The subscription is not active, so the application accepts no new runs. Finished runs stay
            readable.
          </SubscriptionNotice>
        )}
        {isSubscribed && (
          <SubscriptionNotice>
            Another account publishes the versions of this application, so you cannot push an app, change
            versions, read the files of the app or give it secrets.
          </SubscriptionNotice>
        )}
        <IndicatorSection application={application} />
        <RecentRuns application={application} />
        <InstancesSection application={application} />
        <VersionsSection application={application} />
        <ExecutableSection application={application} />
        <HtmlAssetsSection application={data} />
      </div>
    </>
  );
}

/** Opens the dialog that pushes an app. It is the main action until the application has an executable. */
function PushButton({ application, isFirst }: { application: string; isFirst: boolean }) {
  const canWrite = useRight('write');
  const [isPushing, setPushing] = useState(false);
  if (!canWrite) return null;
  return (
    <>
      <Button kind={isFirst ? 'primary' : 'plain'} onPress={() => setPushing(true)}>
        Push app
      </Button>
      <Suspense fallback={null}>
        {isPushing && <PushDialog application={application} onClose={() => setPushing(false)} />}
      </Suspense>
    </>
  );
}

function ExecutableSection({ application }: { application: string }) {
  const { data } = useSuspenseQuery(applicationQuery(application));
  const { data: versions } = useSuspenseQuery(versionsQuery(application));
  const executable = data.active_executable;
  const named = listItems(versions).filter((version) => version.executable.id === executable?.id);
  return (
    <section aria-labelledby="executable">
      <h2 id="executable">Active executable</h2>
      {executable ? (
        <FactList
          facts={[
            ['Id', <code key="id">{executable.id}</code>],
            [
              'Pushed',
              <span key="pushed">
                <RelativeTime at={executable.uploaded_at} /> by{' '}
                {isSubscription(data) ? 'the publisher' : executable.user_email}
              </span>,
            ],
            ['Runtime', executable.requirements.runtime],
            ['Versions', named.length === 0 ? 'none' : named.map(({ id }) => id).join(', ')],
            [
              'Options',
              executable.requirements.options?.items?.map(({ name }) => name).join(', ') || 'none declared',
            ],
          ]}
        />
      ) : (
        <p className="soft">
          Push an app here, or from a terminal: <code>npm run push -- path/to/app {application}</code>
        </p>
      )}
    </section>
  );
}
