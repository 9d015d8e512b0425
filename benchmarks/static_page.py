"""Deploy a function that returns a hand-written page to a local cloud, behind its gateway."""

import io
import zipfile
from pathlib import Path
from typing import Any, Final

import boto3

from infrastructure.deployment.code_stack import STAGE

PAGE: Final = Path(__file__).parent / "contenders" / "static_form.html"
_NAME: Final = "static-form"
_CODE: Final = """
from pathlib import Path

BODY = Path(__file__).with_name("page.html").read_text()
HEADERS = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "private, max-age=0"}

def handler(event, context):
    return {"statusCode": 200, "headers": HEADERS, "body": BODY}
"""


def deploy_static_page(port: int) -> str:
    """Deploy the page to the local cloud of this process and return the URL of the page.

    The function gets the role of a function of the app, which must be deployed.

    Args:
        port: the port of the local cloud.
    """
    functions = boto3.client("lambda")
    function = functions.create_function(
        FunctionName=_NAME,
        Runtime="python3.11",
        Handler="index.handler",
        Role=functions.list_functions()["Functions"][0]["Role"],
        Code={"ZipFile": _package()},
    )
    gateway = boto3.client("apigateway")
    api = gateway.create_rest_api(name=_NAME)["id"]
    root = gateway.get_resources(restApiId=api)["items"][0]["id"]
    method: dict[str, Any] = {"restApiId": api, "resourceId": root, "httpMethod": "GET"}
    gateway.put_method(**method, authorizationType="NONE")
    region = gateway.meta.region_name
    invocations = f"{function['FunctionArn']}/invocations"
    gateway.put_integration(
        **method,
        type="AWS_PROXY",
        integrationHttpMethod="POST",
        uri=f"arn:aws:apigateway:{region}:lambda:path/2015-03-31/functions/{invocations}",
    )
    gateway.create_deployment(restApiId=api, stageName=STAGE)
    return f"http://127.0.0.1:{port}/restapis/{api}/{STAGE}/_user_request_/"


def _package() -> bytes:
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("index.py", _CODE)
        archive.write(PAGE, "page.html")
    return package.getvalue()
