import { useParams } from '@tanstack/react-router';
import { parseExperimentType } from '../../ui/experiments/experiment-types.ts';
import { NotFound } from '../../ui/not-found.tsx';
import { BatchPage } from './batch/batch-page.tsx';

/** The result of one experiment; the type in the address decides which. */
export function ExperimentPage() {
  const {
    application,
    type: text,
    id,
  } = useParams({
    from: '/signed-in/apps/$application/experiments/$type/$id',
  });
  const type = parseExperimentType(text);
  switch (type) {
    case 'batch':
    case 'scenario':
      return <BatchPage type={type} application={application} id={id} />;
    default:
      return <NotFound />;
  }
}
