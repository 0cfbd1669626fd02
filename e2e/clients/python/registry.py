"""A program as users write it with boto3: the identity comes from the SDK's default chain (a web identity where
AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE are set, else static keys), registry requests carry ECR's password.

    registry.py whoami                     prints the caller's ARN
    registry.py pull REGISTRY/REPO:TAG     fetches manifest, config and layers, and checks every digest
    registry.py push REGISTRY/REPO:TAG     pushes an image of one small layer; prints the manifest's digest
    registry.py create REPO                creates a repository
"""

import hashlib
import json
import os
import sys
from urllib.parse import urljoin

import boto3
import urllib3
from botocore.exceptions import BotoCoreError, ClientError

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"


class Refused(Exception):
    """The registry's own words."""


class Repository:
    """One repository as this caller may use it."""

    def __init__(self, host, name):
        data = boto3.client("ecr").get_authorization_token()["authorizationData"][0]
        self.base = f"https://{host}/v2/{name}"
        self.headers = {"Authorization": f"Basic {data['authorizationToken']}"}
        self.http = urllib3.PoolManager(ca_certs=os.environ["AWS_CA_BUNDLE"])

    def request(self, method, url, wanted, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.http.request(method, url, body=body, headers={**self.headers, **headers})
        if answer.status != wanted:
            raise Refused(f"{method} {url}: {answer.status}: {answer.data.decode().strip()}")
        return answer

    def get(self, path):
        return self.request("GET", self.base + path, 200, Accept=f"{MANIFEST}, */*").data

    def pull(self, tag):
        body = self.get(f"/manifests/{tag}")
        manifest = json.loads(body)
        for part in [manifest["config"], *manifest["layers"]]:
            found = digest_of(self.get(f"/blobs/{part['digest']}"))
            if found != part["digest"]:
                raise Refused(f"expected {part['digest']}, found {found}")
        return digest_of(body)

    def upload(self, blob):
        start = self.request("POST", f"{self.base}/blobs/uploads/", 202)
        location = urljoin(self.base, start.headers["Location"])
        query = f"{'&' if '?' in location else '?'}digest={digest_of(blob)}"
        self.request("PUT", location + query, 201, blob, Content_Type="application/octet-stream")
        return {"digest": digest_of(blob), "size": len(blob)}

    def push(self, tag):
        layer = bytes(1024)  # two empty blocks: an empty tar archive
        rootfs = {"type": "layers", "diff_ids": [digest_of(layer)]}
        config = json.dumps({"architecture": "amd64", "os": "linux", "rootfs": rootfs}).encode()
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": CONFIG, **self.upload(config)},
            "layers": [{"mediaType": LAYER, **self.upload(layer)}],
        }
        body = json.dumps(manifest).encode()
        self.request("PUT", f"{self.base}/manifests/{tag}", 201, body, Content_Type=MANIFEST)
        return digest_of(body)


def digest_of(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def run(command, *operands):
    if command == "whoami":
        return boto3.client("sts").get_caller_identity()["Arn"]
    if command == "create":
        return boto3.client("ecr").create_repository(repositoryName=operands[0])["repository"]["repositoryArn"]
    if command in ("pull", "push"):
        host, _, rest = operands[0].partition("/")
        name, _, tag = rest.partition(":")
        return getattr(Repository(host, name), command)(tag)
    raise SystemExit(f"expected a command: whoami, pull, push or create; found {command!r}")


if __name__ == "__main__":
    try:
        print(run(*sys.argv[1:]))
    except (BotoCoreError, ClientError, Refused) as error:
        sys.exit(str(error))
