"""Row images by connector kind: what an envelope has where the row and its key are."""

from collections.abc import Mapping

from cdc.debezium.images.image import Images
from cdc.debezium.images.mongodb import DocumentImages
from cdc.debezium.images.rows import RowImages
from cdc.spec.model import ConnectorSpec

IMAGES: Mapping[str, Images] = {"mongodb": DocumentImages()}
"""Connector kind -> its images, for the kinds whose images are not rows as JSON objects."""
_ROWS = RowImages()


def images_of(connector: ConnectorSpec) -> Images:
    """The row images of a connector's records."""
    return IMAGES.get(connector.kind, _ROWS)
