"""Load and save Chalice's record of deployed resources, a file in the data stack's bucket.

Without the record, the next deployment would create all resources again. The bucket is versioned.
"""

from pathlib import Path

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from infrastructure.deployment.progress import DeploymentError


def load(bucket: str, file: Path) -> None:
    """Copy the record from the bucket to a file named ``<stage>.json``.

    Create no file if the bucket contains no record.
    """
    s3 = boto3.client("s3")
    try:
        record = s3.get_object(Bucket=bucket, Key=file.name)["Body"].read()
    except s3.exceptions.NoSuchKey:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(record)


def save(bucket: str, file: Path, fallback: Path) -> None:
    """Copy the record from a file to the bucket. Do nothing if the file does not exist.

    Args:
        fallback: the folder in which the record is saved if the bucket cannot be written.

    Raises:
        DeploymentError: the bucket cannot be written.
    """
    if not file.exists():
        return
    record = file.read_bytes()
    try:
        boto3.client("s3").put_object(Bucket=bucket, Key=file.name, Body=record)
    except (BotoCoreError, ClientError) as error:
        fallback.mkdir(parents=True, exist_ok=True)
        copy = fallback / file.name
        copy.write_bytes(record)
        raise DeploymentError(
            f"Cannot write the record of the deployed resources: {error}. Copy {copy} to"
            f" s3://{bucket}/{file.name} before the next deployment."
        ) from error
