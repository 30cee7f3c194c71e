import type { Application } from '@switchyard/contract/applications/applications.ts';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { applicationQuery, versionsQuery } from '../../client/applications.ts';
import { useMeaning } from '../../client/indicator-meaning.ts';
import { listItems } from '../../client/list-items.ts';
import { subscriptionQuery } from '../../client/subscriptions.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { FactList } from '../../ui/facts.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { NoRunYet } from '../../ui/resources/no-run-yet.tsx';
import { SubscriptionBadge } from '../../ui/subscriptions/subscription-badge.tsx';
import { isSubscription, SubscriptionNotice } from '../../ui/subscriptions/subscription-notice.tsx';
import { useRight } from '../../ui/use-right.ts';
import { ApplicationDialog, ApplicationMenu, type OpenDialog } from './application-actions.tsx';
import { ApplicationAnswer } from './application-answer.tsx';
import { ApplicationNeeds } from './application-needs.tsx';
import styles from './application-page.module.css';
import { InstancesSection } from './instances-section.tsx';
import { LanesSection } from './lanes-section.tsx';
import { describeDirection } from './objective-dialog.tsx';
import { recentRunsQuery } from './queries.ts';
import { RecentExperiments } from './recent-experiments.tsx';
import { RecentRuns } from './recent-runs.tsx';
import { VersionsSection } from './versions/versions-section.tsx';

/** One application: how good its plans are and what needs someone, what ran where, and what it can run. */
export function ApplicationPage() {
  const { application } = useParams({ from: '/signed-in/apps/$application/' });
  const { data } = useSuspenseQuery(applicationQuery(application));
  const { data: recent } = useSuspenseQuery(recentRunsQuery(application));
  const [dialog, setDialog] = useState<OpenDialog>();
  const isSubscribed = isSubscription(data);
  const acceptsRuns = useAcceptsRuns(data);
  const canWrite = useRight('write');
  const mayExperiment = useRight('experiment');
  usePageTitle(data.name);
  return (
    <>
      <PageHeader
        title={<bdi>{data.name}</bdi>}
        description={<HeadFacts application={data} />}
        actions={<MainAction application={data} acceptsRuns={acceptsRuns} onPush={() => setDialog('push')} />}
        quiet={
          mayExperiment &&
          data.active_executable !== null && (
            <LinkButton kind="quiet" to="/apps/$application/new-experiment" params={{ application }}>
              New experiment
            </LinkButton>
          )
        }
        menu={canWrite && <ApplicationMenu application={data} onOpen={setDialog} />}
      />
      <ApplicationDialog open={dialog} application={data} onClose={() => setDialog(undefined)} />
      <ApplicationAnswer application={application} />
      <ApplicationNeeds application={data} onChooseObjective={() => setDialog('objective')} />
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
        <LanesSection application={application} />
        {recent.runs.length === 0 ? (
          <NoRunYet application={application} />
        ) : (
          <div className={styles.lower}>
            <RecentRuns application={application} />
            <RecentExperiments application={application} />
          </div>
        )}
        <InstancesSection application={application} />
        <VersionsSection application={application} />
        <ExecutableSection application={application} />
      </div>
    </>
  );
}

function useAcceptsRuns(application: Application): boolean {
  const { data: subscription } = useQuery({
    ...subscriptionQuery(application.subscription_id),
    enabled: isSubscription(application),
  });
  return subscription === undefined || subscription?.state === 'active';
}

/** The id, the objective and the runtime, and the description below. */
function HeadFacts({ application }: { application: Application }) {
  const { id, subscription_id, objective, active_executable: executable, description } = application;
  const { objective: judged } = useMeaning(id);
  return (
    <>
      <span className={styles.facts}>
        <span>
          <code>{id}</code> <CopyButton text={id} label="Copy application id" />
        </span>
        {objective && (
          <>
            <span>
              objective <b>{judged.label === 'Objective' ? objective.name : judged.label}</b>
            </span>
            <span>{describeDirection(objective.direction)}</span>
          </>
        )}
        {executable && <span>{executable.requirements.runtime}</span>}
        {isSubscription(application) && <SubscriptionBadge subscription={subscription_id} />}
      </span>
      {description && <span className={styles.description}>{description}</span>}
    </>
  );
}

interface MainActionProps {
  application: Application;
  acceptsRuns: boolean;
  onPush: () => void;
}

/** Starts a run; before the application has an executable, pushes the first one. */
function MainAction({ application, acceptsRuns, onPush }: MainActionProps) {
  const canWrite = useRight('write');
  const mayRun = useRight('run');
  if (application.active_executable === null)
    return (
      canWrite &&
      !isSubscription(application) && (
        <Button kind="primary" onPress={onPush}>
          Push app
        </Button>
      )
    );
  return (
    mayRun &&
    acceptsRuns && (
      <LinkButton kind="primary" to="/apps/$application/new-run" params={{ application: application.id }}>
        New run
      </LinkButton>
    )
  );
}

function ExecutableSection({ application }: { application: string }) {
  const { data } = useSuspenseQuery(applicationQuery(application));
  const { data: versions } = useSuspenseQuery(versionsQuery(application));
  const executable = data.active_executable;
  const named = listItems(versions).filter((version) => version.executable.id === executable?.id);
  const { options } = executable?.requirements ?? {};
  return (
    <section aria-labelledby="executable">
      <h2 id="executable">Active executable</h2>
      <FactList
        facts={[
          [
            'Id',
            executable ? (
              <code key="id">{executable.id}</code>
            ) : (
              <>
                none; push an app here, or from a terminal:{' '}
                <code>npm run push -- path/to/app {application}</code>
              </>
            ),
          ],
          [
            'Pushed',
            executable && (
              <span key="pushed">
                <RelativeTime at={executable.uploaded_at} /> by{' '}
                {isSubscription(data) ? 'the publisher' : executable.user_email}
              </span>
            ),
          ],
          ['Runtime', executable?.requirements.runtime],
          ['Versions', executable && (named.map(({ id }) => id).join(', ') || 'none')],
          ['Options', executable && (options?.items?.map(({ name }) => name).join(', ') || 'none declared')],
          ['HTML assets', <TrustInHtmlAssets key="trust" application={data} />],
        ]}
      />
    </section>
  );
}

/** Says whether HTML assets of the application run without a click. An administrator changes it in the menu. */
function TrustInHtmlAssets({ application }: { application: Application }) {
  const {
    html_assets_trusted: isTrusted,
    html_assets_trusted_by: by,
    html_assets_trusted_at: at,
  } = application;
  if (!isTrusted) return 'run after a click, because such a page can send what it shows to its author';
  return (
    <>
      run as soon as someone opens them; trusted by <bdi>{by ?? 'an unknown administrator'}</bdi>{' '}
      {at && <RelativeTime at={at} />}
    </>
  );
}
