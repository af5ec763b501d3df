"""Models of images and videos, most of them from torchvision."""

import torch
from torch import nn
from torch.nn import functional

from .example import MODELS, Example, model, randomise, widen


def scenes(batch, channels, height, width):
    """Images that differ in colour, in large shapes and in noise. The features of pure noise are nearly the same for all images."""
    shapes = functional.interpolate(torch.randn(batch, channels, 4, 4), size=(height, width), mode="bilinear", align_corners=False)
    return 0.5 * torch.randn(batch, channels, 1, 1) + shapes + 0.5 * torch.randn(batch, channels, height, width)


def image(module, size=64, channels=3, batch=2, free=False):
    """An Example with one image as input. `free` lets the height and the width vary as well as the batch."""
    calibration = scenes(32, channels, size, size)
    randomise(module, (calibration,))
    inputs = (scenes(batch, channels, size, size),)
    others = [(scenes(batch + 1, channels, size, size),)]
    if free:
        others.insert(0, (scenes(batch + 1, channels, size + 32, size - 16 if size > 64 else size),))
        others.insert(0, (scenes(batch + 1, channels, size + 32, size + 64),))
    return Example(module.eval(), inputs, others)


def vision(name, size=64, free=False, shrink=None, **options):
    """Adds a classifier of torchvision."""

    def make():
        import torchvision

        module = getattr(torchvision.models, name)(weights=None, num_classes=10, **options)
        return image(shrink(module) if shrink else module, size, free=free)

    MODELS["tv_" + name] = make


def blocks(*counts):
    """Shortens the stages of a ResNet."""

    def shrink(module):
        for k, count in enumerate(counts, 1):
            name = f"layer{k}"
            setattr(module, name, getattr(module, name)[:count])
        return module

    return shrink


def small_head(features):
    """Replaces the classifier of AlexNet or VGG by a small one."""

    def shrink(module):
        module.classifier = nn.Sequential(nn.Linear(features, 64), nn.ReLU(True), nn.Dropout(), nn.Linear(64, 10))
        return module

    return shrink


vision("resnet18", free=True)
vision("resnet50", free=True, shrink=blocks(2, 2, 2, 1))
vision("resnext50_32x4d", shrink=blocks(2, 2, 2, 1))
vision("wide_resnet50_2", shrink=blocks(1, 1, 1, 1))
vision("vgg11_bn", shrink=small_head(25088))
vision("vgg11", shrink=small_head(25088))
vision("alexnet", 96, shrink=small_head(9216))
vision("densenet121")
vision("mobilenet_v2", free=True)
vision("mobilenet_v3_small", free=True)
vision("mobilenet_v3_large")
vision("efficientnet_b0")
vision("efficientnet_v2_s", 96)
vision("convnext_tiny")
vision("shufflenet_v2_x0_5", free=True)
vision("mnasnet0_5")
vision("regnet_x_400mf")
vision("regnet_y_400mf")
vision("squeezenet1_1")
vision("googlenet", 96, init_weights=False)
vision("inception_v3", 96, init_weights=False)


@model
def tv_vit_b_16():
    from torchvision.models.vision_transformer import VisionTransformer

    return image(widen(VisionTransformer(image_size=64, patch_size=16, num_layers=3, num_heads=4, hidden_dim=64, mlp_dim=128, num_classes=10)))


@model
def tv_swin_t():
    from torchvision.models.swin_transformer import SwinTransformer

    sizes = {"embed_dim": 24, "depths": [2, 2], "num_heads": [2, 4], "window_size": [7, 7], "num_classes": 10}
    return image(SwinTransformer(patch_size=[4, 4], **sizes), 96, free=True)


@model
def tv_swin_v2_t():
    from torchvision.models.swin_transformer import PatchMergingV2, SwinTransformer, SwinTransformerBlockV2

    sizes = {"embed_dim": 24, "depths": [2, 2], "num_heads": [2, 4], "window_size": [8, 8], "num_classes": 10}
    return image(SwinTransformer(patch_size=[4, 4], block=SwinTransformerBlockV2, downsample_layer=PatchMergingV2, **sizes), 96, free=True)


@model
def tv_maxvit_t():
    from torchvision.models.maxvit import MaxVit

    sizes = {"stem_channels": 16, "block_channels": [16, 32], "block_layers": [1, 2], "head_dim": 8, "partition_size": 4}
    return image(widen(MaxVit(input_size=(64, 64), stochastic_depth_prob=0.2, num_classes=10, **sizes)))


def segmentation(name, size=64, **options):
    """Adds a model of torchvision for segmentation."""

    def make():
        from torchvision.models import segmentation as models

        module = getattr(models, name)(weights=None, weights_backbone=None, num_classes=5, **options)
        if "resnet" in name:
            backbone = module.backbone
            for k in range(1, 5):
                backbone[f"layer{k}"] = backbone[f"layer{k}"][:1]
        return image(module, size, free=True)

    MODELS["tv_" + name] = make


segmentation("fcn_resnet50")
segmentation("deeplabv3_resnet50")
segmentation("deeplabv3_mobilenet_v3_large")
segmentation("lraspp_mobilenet_v3_large")


def pyramid(module):
    """An Example of a backbone with a feature pyramid. PyTorch takes the sizes of the first inputs as the largest ones."""
    example = image(module, 128)
    return example._replace(others=[(scenes(3, 3, 96, 96),), *example.others])


@model
def tv_resnet_fpn():
    from torchvision.models import resnet18
    from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor

    return pyramid(_resnet_fpn_extractor(resnet18(weights=None), 5))


@model
def tv_mobilenet_fpn():
    from torchvision.models.detection.backbone_utils import mobilenet_backbone

    return pyramid(mobilenet_backbone(backbone_name="mobilenet_v3_large", weights=None, fpn=True, trainable_layers=6))


@model
def tv_retinanet_heads():
    """The backbone and the heads of RetinaNet, without its postprocessing."""
    import torchvision
    from torchvision.models.detection.backbone_utils import mobilenet_backbone
    from torchvision.models.detection.retinanet import RetinaNetHead

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone = mobilenet_backbone(backbone_name="mobilenet_v3_large", weights=None, fpn=True, trainable_layers=6)
            self.head = RetinaNetHead(self.backbone.out_channels, 3, 4)

        def forward(self, x):
            return self.head(list(self.backbone(x).values()))

    return image(Net(), 64)


@model
def tv_ssdlite():
    """The whole detector, with its choice of boxes."""
    from torchvision.models.detection import ssdlite320_mobilenet_v3_large

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)

        def forward(self, x):
            return self.net([x])

    return Example(randomise(Net()).eval(), (torch.rand(3, 96, 96),), [])


@model
def tv_r3d_18():
    from torchvision.models.video import r3d_18

    module = r3d_18(weights=None, num_classes=10)
    module.layer4, module.fc = nn.Identity(), nn.Linear(256, 10)
    randomise(module, (torch.randn(2, 3, 4, 32, 32),))
    return Example(module.eval(), (torch.randn(2, 3, 6, 32, 32),), [(torch.randn(3, 3, 9, 32, 32),), (torch.randn(3, 3, 6, 32, 32),)])


@model
def tv_raft_small():
    from torchvision.models.optical_flow import raft_small

    module = randomise(raft_small(weights=None), (torch.randn(2, 3, 128, 128), torch.randn(2, 3, 128, 128))).eval()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = module

        def forward(self, a, b):
            return self.net(a, b, num_flow_updates=2)

    pair = lambda batch: (torch.randn(batch, 3, 128, 128), torch.randn(batch, 3, 128, 128))
    return Example(Net(), pair(1), [])
